import { lazy, Suspense, useMemo } from 'react';
import { count } from '../words/numbers.ts';
import { Empty, Loading } from './States.tsx';
import { tableClass } from './Table.tsx';

const Chart = lazy(() => import('./Chart.tsx').then(({ Chart: drawn }) => ({ default: drawn })));

/** Counts by day (UTC) as lines or bars, and as a table for people who can’t see the drawing. `total` says how much there is at all. */
export function DaysChart<Key extends string>({
  label,
  lines,
  days,
  total,
  bars = false,
  empty,
}: {
  label: string;
  /** Of each line the key of its counts, its name, and the custom property of its color. */
  lines: readonly (readonly [key: Key, name: string, color: string])[];
  days: readonly (Record<Key, number> & { date: string })[];
  total: Key;
  bars?: boolean;
  empty: { title: string; text: string };
}) {
  const drawn = useMemo(
    () => ({
      instants: days.map(({ date }) => Date.parse(date)),
      series: lines.map(([key, name, color]) => ({ label: name, color, values: days.map((day) => day[key]) })),
    }),
    [days, lines],
  );
  if (days.every((day) => day[total] === 0)) return <Empty title={empty.title}>{empty.text}</Empty>;
  return (
    <>
      {/* As high as the drawing with its legend, so that nothing moves when it comes. */}
      <div className="min-h-68">
        <Suspense fallback={<Loading />}>
          <Chart {...drawn} bars={bars} unit="day" />
        </Suspense>
      </div>
      <details>
        <summary>View as table</summary>
        <section className="mt-2 overflow-x-auto rounded-lg border border-line" aria-label={label}>
          <table className={tableClass}>
            <thead>
              <tr>
                <th scope="col">Day (UTC)</th>
                {lines.map(([key, name]) => (
                  <th key={key} scope="col" className="number">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {days.toReversed().map((day) => (
                <tr key={day.date}>
                  <td>{day.date.slice(0, 10)}</td>
                  {lines.map(([key]) => (
                    <td key={key} className="number">
                      {count(day[key])}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </details>
    </>
  );
}
