import type { CSSProperties } from 'react';
import { answer, api } from '../api/client.ts';
import { useProjectId } from '../app/address.ts';
import { usePages } from '../app/pages.ts';
import type { UploadedImage } from '../pages/mail/image.ts';
import { Button } from '../ui/Button.tsx';
import { Empty, Shown } from '../ui/States.tsx';

// All style sheets come with every page, so what only a dialog has is said here.
const grid: CSSProperties = {
  display: 'grid',
  gridTemplateColumns: 'repeat(auto-fill, minmax(7rem, 1fr))',
  gap: '0.5rem',
  maxHeight: '20rem',
  overflow: 'auto',
  padding: '0.25rem',
  listStyle: 'none',
};
const card: CSSProperties = {
  width: '100%',
  padding: '0.375rem',
  border: '1px solid var(--line)',
  borderRadius: 'var(--radius)',
  cursor: 'pointer',
};
const picture: CSSProperties = { width: '100%', height: '5rem', objectFit: 'contain', background: '#fff' };

/** The images that the project has uploaded, newest first, to choose one of them. */
export function RecentImages({ onChoose }: { onChoose: (image: UploadedImage) => void }) {
  const project = useProjectId();
  const images = usePages({
    queryKey: ['uploads', project, 'recent'],
    fetchPage: (cursor, signal) => answer(api.GET('/uploads', { params: { query: { limit: 12, cursor } }, signal })),
  });
  return (
    <section aria-label="Recent images" className="stack">
      <h3>Recent images</h3>
      <Shown query={images}>
        {({ pages }) => {
          const shown = pages.flatMap((page) => page.images);
          if (shown.length === 0) return <Empty title="No images yet">Images you upload appear here.</Empty>;
          return (
            <ul style={grid}>
              {shown.map((image) => (
                <li key={image.id}>
                  <button type="button" style={card} onClick={() => onChoose(image)}>
                    <img src={image.url} alt="" loading="lazy" style={picture} />
                    <span dir="auto" className="block truncate text-sm">
                      {image.filename}
                    </span>
                  </button>
                </li>
              ))}
            </ul>
          );
        }}
      </Shown>
      {images.hasNextPage ? (
        <div>
          <Button size="small" busy={images.isFetchingNextPage} onClick={() => images.fetchNextPage()}>
            Show more
          </Button>
        </div>
      ) : null}
    </section>
  );
}
