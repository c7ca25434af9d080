import { useState } from 'react';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { TextField } from '../../ui/Field.tsx';
import { ImageList } from './ImageList.tsx';
import { ImageUpload } from './ImageUpload.tsx';
import { imageTag } from './image.ts';

/** Puts a picture into the message: one that there is, or one that is uploaded for it. */
export function ImageDialog({ onInsert, onClose }: { onInsert: (tag: string) => void; onClose: () => void }) {
  const [description, setDescription] = useState('');
  return (
    <Dialog title="Insert a picture" onClose={onClose}>
      <TextField
        label="What it shows"
        hint="Read out to people who do not see it, and shown where pictures are turned off. Leave it empty for decoration."
        value={description}
        onChange={(event) => setDescription(event.target.value)}
      />
      <ImageUpload />
      <ImageList
        actions={({ url, filename }) => (
          <Button
            size="small"
            look="primary"
            aria-label={`Insert ${filename}`}
            onClick={() => {
              onInsert(imageTag(url, description));
              onClose();
            }}
          >
            Insert
          </Button>
        )}
      />
      <footer>
        <Button onClick={onClose}>Close</Button>
      </footer>
    </Dialog>
  );
}
