import { useMutation } from '@tanstack/react-query';
import { type ChangeEvent, type ReactNode, useState } from 'react';
import { Copy } from '../../ui/Copy.tsx';
import { Loading, Note, Problem } from '../../ui/States.tsx';
import { imageTypes, largestImage, uploadImage } from './image.ts';
import './mail.css';

/** A picture that was uploaded. */
export interface UploadedImage {
  url: string;
  filename: string;
}

/** Uploads pictures one after another and shows each with its address; `actions` adds what else can be done with one. */
export function ImageUpload({ actions }: { actions?: (image: UploadedImage) => ReactNode }) {
  const [images, setImages] = useState<UploadedImage[]>([]);
  const [tooLarge, setTooLarge] = useState(false);
  const upload = useMutation({
    mutationFn: uploadImage,
    onSuccess: ({ url, filename }) => setImages((before) => [{ url, filename }, ...before]),
  });
  const choose = (event: ChangeEvent<HTMLInputElement>) => {
    const file = event.target.files?.[0];
    if (!file) return;
    setTooLarge(file.size > largestImage);
    if (file.size <= largestImage) upload.mutate(file);
    // The same file may be chosen again after it was mended.
    event.target.value = '';
  };
  return (
    <div className="stack">
      <label className="field">
        <span>Picture: JPEG, PNG, GIF or WebP, up to 10 MB</span>
        <input className="input" type="file" accept={imageTypes} disabled={upload.isPending} onChange={choose} />
      </label>
      {tooLarge ? <Note tone="bad">This picture is larger than 10 MB: make it smaller.</Note> : null}
      {upload.isPending ? <Loading what="Uploading" /> : null}
      {upload.error ? <Problem error={upload.error} /> : null}
      <ul className="stack" aria-label="Uploaded pictures">
        {images.map((image) => (
          <li key={image.url} className="uploaded">
            <img src={image.url} alt={image.filename} />
            <div className="stack">
              <strong className="break" dir="auto">
                {image.filename}
              </strong>
              <code className="break">{image.url}</code>
              <div className="row">
                <Copy text={image.url} what={`the address of ${image.filename}`} />
                {actions?.(image)}
              </div>
            </div>
          </li>
        ))}
      </ul>
    </div>
  );
}
