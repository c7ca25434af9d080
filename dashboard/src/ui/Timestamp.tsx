import { useEffect, useState } from 'react';
import { Tip } from './Tip.tsx';

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

/** An instant in the viewer's zone: near ones as distance, far ones as date; the exact instant is a hover or focus away. */
export function Timestamp({ at }: { at: string | null | undefined }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 30_000);
    return () => clearInterval(timer);
  }, []);
  if (!at) return <span className="muted">–</span>;
  const date = new Date(at);
  return (
    <Tip text={`${exact.format(date)} (${date.toISOString()})`}>
      <time dateTime={at}>{near(date.getTime() - now) ?? day.format(date)}</time>
    </Tip>
  );
}

function near(distance: number): string | null {
  const size = Math.abs(distance);
  if (size < 60_000) return distance > 0 ? 'in a moment' : 'just now';
  for (const [unit, length] of steps) {
    if (unit === 'day' && size >= 7 * length) return null;
    if (size >= length) return relative.format(Math.trunc(distance / length), unit);
  }
  return null;
}
