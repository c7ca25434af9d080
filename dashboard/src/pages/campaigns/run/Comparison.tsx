import { Link } from '@tanstack/react-router';
import { useProjectId } from '../../../app/address.ts';
import { Table } from '../../../ui/Table.tsx';
import { rate } from '../../../words/numbers.ts';
import { type Rates, usualRates } from '../rules/results.ts';
import type { Results } from './results.ts';

const columns = [
  ['deliveryRate', 'Delivered'],
  ['openRate', 'Opened'],
  ['clickRate', 'Clicked'],
  ['bounceRate', 'Bounced'],
  ['unsubscribeRate', 'Unsubscribed'],
] as const;

/** The rates of a campaign beside those of the five before it and their median. */
export function Comparison({ rates, earlier }: { rates: Rates; earlier: Results['earlier'] }) {
  const project = useProjectId();
  const usual = usualRates(earlier);
  if (usual === null) return <p className="muted">Earlier campaigns appear here once there are some.</p>;
  const rows = [
    { ...rates, id: 'this', name: 'This campaign' },
    { ...usual, id: 'median', name: `Median of the last ${earlier.length}` },
    ...earlier,
  ];
  return (
    <Table
      label="Earlier campaigns"
      rows={rows}
      rowKey={({ id }) => id}
      columns={[
        {
          key: 'name',
          title: 'Campaign',
          cell: (row) =>
            'sentAt' in row ? (
              <Link to="/app/$project/campaigns/$campaign" params={{ project, campaign: row.id }} dir="auto">
                {row.name}
              </Link>
            ) : (
              <strong>{row.name}</strong>
            ),
        },
        ...columns.map(([key, title]) => ({ key, title, number: true, cell: (row: Rates) => rate(row[key]) })),
      ]}
    />
  );
}
