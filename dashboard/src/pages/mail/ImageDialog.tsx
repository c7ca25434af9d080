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
    <Dialog title="Insert image" onClose={onClose}>
      <TextField
        label="Alt text"
        hint="Read by screen readers and shown when images are blocked. Leave empty for decorative images."
        value={description}
        onChange={(event) => setDescription(event.target.value)}
      />
      <ImageUpload />
      <ImageList
        actions={({ url, filename }) => (
          <Button
            size="small"
            variant="primary"
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
