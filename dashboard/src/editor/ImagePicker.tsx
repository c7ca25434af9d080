import { useMutation } from '@tanstack/react-query';
import { Upload } from 'lucide-react';
import { useRef } from 'react';
import { imageTypes, largestImage, uploadImage } from '../pages/mail/image.ts';
import { Button } from '../ui/Button.tsx';
import { Problem } from '../ui/States.tsx';
import { toast } from '../ui/toasts.tsx';

/** Uploads an image from the computer, and answers its address. */
export function ImagePicker({ onPick }: { onPick: (url: string) => void }) {
  const upload = useMutation({ mutationFn: uploadImage, onSuccess: ({ url }) => onPick(url) });
  return (
    <div className="field">
      <ImageFileButton busy={upload.isPending} onFile={(file) => isSmallEnough(file) && upload.mutate(file)} />
      {upload.error ? <Problem error={upload.error} /> : null}
    </div>
  );
}

/** Chooses an image from the computer. */
export function ImageFileButton({ busy = false, onFile }: { busy?: boolean; onFile: (file: File) => void }) {
  const field = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={field}
        type="file"
        hidden
        aria-label="Image file"
        accept={imageTypes}
        onChange={(event) => {
          const [file] = event.target.files ?? [];
          if (file) onFile(file);
          event.target.value = '';
        }}
      />
      <Button busy={busy} onClick={() => field.current?.click()}>
        <Upload aria-hidden /> Upload image
      </Button>
    </>
  );
}

/** Whether the service takes a file of this size; says so where it does not. */
function isSmallEnough(file: File): boolean {
  if (file.size <= largestImage) return true;
  toast('This image is larger than 10 MB: make it smaller.', 'bad');
  return false;
}
