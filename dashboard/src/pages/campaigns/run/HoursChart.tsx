import { lazy, Suspense, useMemo } from 'react';
import { Empty, Loading } from '../../../ui/States.tsx';
import { Table } from '../../../ui/Table.tsx';
import { Timestamp } from '../../../ui/Timestamp.tsx';
import { count } from '../../../words/numbers.ts';
import { runningTotals, withoutGaps } from '../rules/results.ts';
import type { Results } from './results.ts';

const Chart = lazy(() => import('../../../ui/Chart.tsx').then(({ Chart: drawn }) => ({ default: drawn })));

const lines = [
  ['sent', 'Sent', '--line-1'],
  ['delivered', 'Delivered', '--line-3'],
  ['opened', 'Opened', '--line-2'],
  ['clicked', 'Clicked', '--line-5'],
  ['bounced', 'Bounced', '--line-4'],
] as const;
const none = { sent: 0, delivered: 0, opened: 0, clicked: 0, bounced: 0 };

/** Draws how the results of a campaign add up over time, and shows them by hour as a table. */
export function HoursChart({ hours }: { hours: Results['hours'] }) {
  const drawn = useMemo(() => {
    const whole = withoutGaps(hours, none);
    return {
      instants: whole.map(({ hour }) => Date.parse(hour)),
      series: lines.map(([key, label, color]) => ({
        label,
        color,
        values: runningTotals(whole.map((each) => each[key])),
      })),
    };
  }, [hours]);
  if (hours.length === 0)
    return <Empty title="Nothing to show yet">Deliveries, opens and clicks appear here hour by hour.</Empty>;
  return (
    <>
      <Suspense fallback={<Loading />}>
        <Chart {...drawn} unit="hour" />
      </Suspense>
      <p className="text-sm text-muted">Totals since the first email was sent.</p>
      <details>
        <summary>View by hour as table</summary>
        <div className="mt-2">
          <Table
            label="Results by hour"
            rows={hours}
            rowKey={({ hour }) => hour}
            columns={[
              { key: 'hour', title: 'Hour', cell: ({ hour }) => <Timestamp at={hour} /> },
              ...lines.map(([key, title]) => ({
                key,
                title,
                number: true,
                cell: (each: Results['hours'][number]) => count(each[key]),
              })),
            ]}
          />
        </div>
      </details>
    </>
  );
}
