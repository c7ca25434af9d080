import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useMemo } from 'react';
import { answer, api } from '../../api/client.ts';
import { Empty, Loading, Shown } from '../../ui/States.tsx';
import { tableClass } from '../../ui/Table.tsx';
import { count } from '../../words/numbers.ts';

const Chart = lazy(() => import('../../ui/Chart.tsx').then(({ Chart: drawn }) => ({ default: drawn })));

/** A day of mail, as the service counts it: by the day on which the mail was made. */
interface Day {
  date: string;
  emails: number;
  delivered: number;
  opens: number;
  clicks: number;
  bounces: number;
}

const lines = [
  ['emails', 'Emails', '--line-1'],
  ['delivered', 'Delivered', '--line-3'],
  ['opens', 'Opened', '--line-2'],
  ['clicks', 'Clicked', '--line-5'],
  ['bounces', 'Bounced', '--line-4'],
] as const;

/** Mail of each day since an instant. */
export function MailChart({ project, startDate }: { project: string; startDate: string }) {
  const query = useQuery({
    queryKey: ['timeseries', project, startDate],
    refetchInterval: 15_000,
    queryFn: () => answer(api.GET('/analytics/timeseries', { params: { query: { startDate } } })),
  });
  return <Shown query={query}>{(days) => <Drawn days={days} />}</Shown>;
}

function Drawn({ days }: { days: readonly Day[] }) {
  const drawn = useMemo(
    () => ({
      days: days.map(({ date }) => Date.parse(date)),
      series: lines.map(([key, label, color]) => ({ label, color, values: days.map((day) => day[key]) })),
    }),
    [days],
  );
  const total = days.reduce((sum, { emails }) => sum + emails, 0);
  if (total === 0) return <Empty title="No emails in this period">Emails you send appear here.</Empty>;
  return (
    <>
      <Suspense fallback={<Loading />}>
        <Chart {...drawn} />
      </Suspense>
      <details>
        <summary>View as table</summary>
        <section className="mt-2 overflow-x-auto rounded-lg border border-line" aria-label="Emails by day">
          <table className={tableClass}>
            <thead>
              <tr>
                <th scope="col">Day (UTC)</th>
                {lines.map(([key, label]) => (
                  <th key={key} scope="col" className="number">
                    {label}
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
