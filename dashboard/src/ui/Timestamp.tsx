import { useEffect, useState } from 'react';
import { bothZones, momentText } from '../words/times.ts';
import { Tip } from './Tip.tsx';

/** An instant, near ones by their distance; both zones are a hover away. `after` is set where a preposition stands before it. */
export function Timestamp({ at, after = false }: { at: string | null | undefined; after?: boolean }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 30_000);
    return () => clearInterval(timer);
  }, []);
  if (!at) return <span className="muted">–</span>;
  const instant = Date.parse(at);
  return (
    <Tip text={() => bothZones(instant)}>
      <time dateTime={at}>{momentText(instant, now, after)}</time>
    </Tip>
  );
}
