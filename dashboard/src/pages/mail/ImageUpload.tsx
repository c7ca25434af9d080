import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useProjectId } from '../../app/address.ts';
import { FileField } from '../../ui/FileField.tsx';
import { Loading, Note, Problem } from '../../ui/States.tsx';
import { toast } from '../../ui/toasts.tsx';
import { imageTypes, largestImage, uploadImage } from './image.ts';

/** Uploads pictures one after another; each appears in the list of those that there are. */
export function ImageUpload() {
  const project = useProjectId();
  const queries = useQueryClient();
  const [tooLarge, setTooLarge] = useState(false);
  const upload = useMutation({
    mutationFn: uploadImage,
    onSuccess: async ({ filename }) => {
      await queries.invalidateQueries({ queryKey: ['uploads', project] });
      toast(`“${filename}” uploaded`);
    },
  });
  const choose = (file: File) => {
    setTooLarge(file.size > largestImage);
    if (file.size <= largestImage) upload.mutate(file);
  };
  return (
    <div className="stack">
      <FileField
        label="Image: JPEG, PNG, GIF or WebP, up to 10 MB"
        accept={imageTypes}
        disabled={upload.isPending}
        onFile={choose}
      />
      {tooLarge ? <Note tone="bad">This image is larger than 10 MB. Choose a smaller one.</Note> : null}
      {upload.isPending ? <Loading what="Uploading" /> : null}
      {upload.error ? <Problem error={upload.error} /> : null}
    </div>
  );
}
