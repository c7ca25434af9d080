import { type ReactNode, useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { usePages } from '../../app/pages.ts';
import { CopyButton } from '../../ui/CopyButton.tsx';
import { EndlessRows } from '../../ui/EndlessRows.tsx';
import { Empty } from '../../ui/States.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { bytes } from '../../words/numbers.ts';
import type { UploadedImage } from './image.ts';
import './mail.css';

/** Every picture of the project with its address, newest first; `actions` adds what else can be done with one. */
export function ImageList({ actions }: { actions?: (image: UploadedImage) => ReactNode }) {
  const project = useProjectId();
  const images = usePages({
    queryKey: ['uploads', project],
    fetchPage: (cursor, signal) => answer(api.GET('/uploads', { params: { query: { limit: 50, cursor } }, signal })),
  });
  return (
    <EndlessRows
      label="Uploaded images"
      query={images}
      rowsOf={(page) => page.images}
      rowKey={({ id }) => id}
      rowHeight={150}
      empty={<Empty title="No images yet">Images you upload appear here.</Empty>}
    >
      {(image) => (
        <div className="uploaded">
          <Preview image={image} />
          <div className="stack">
            <strong className="break" dir="auto">
              {image.filename}
            </strong>
            <span className="muted">
              {bytes(image.size)}, <Timestamp at={image.createdAt} />
            </span>
            <code className="break">{image.url}</code>
            <div className="row">
              <CopyButton text={image.url} what={`URL of ${image.filename}`} />
              {actions?.(image)}
            </div>
          </div>
        </div>
      )}
    </EndlessRows>
  );
}

function Preview({ image: { url, filename } }: { image: UploadedImage }) {
  const [missing, setMissing] = useState(false);
  if (missing) return <span className="muted">The file can’t be loaded</span>;
  return <img src={url} alt={filename} loading="lazy" onError={() => setMissing(true)} />;
}
