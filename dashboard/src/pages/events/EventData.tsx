import { useState } from 'react';
import { Button } from '../../ui/Button.tsx';

const most = 4;

/** The data of an event, a line for each field with its name and value; the first four until all are asked for. */
export function EventData({ data }: { data: Readonly<Record<string, unknown>> | null }) {
  const [isWhole, setWhole] = useState(false);
  const lines = Object.entries(data ?? {}).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  if (lines.length === 0) return <>–</>;
  const shown = isWhole ? lines : lines.slice(0, most);
  return (
    <>
      {/* One text: a page shows a hundred events, and an element for each field makes it slow to open. */}
      <p className={`break text-sm whitespace-pre-line ${isWhole ? '' : 'line-clamp-6'}`} dir="auto">
        {shown.join('\n')}
      </p>
      {shown.length < lines.length ? (
        <Button size="small" variant="plain" onClick={() => setWhole(true)}>
          Show {lines.length - most} more
        </Button>
      ) : null}
    </>
  );
}
