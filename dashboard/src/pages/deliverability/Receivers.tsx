import type { components } from '../../api/schema.d.ts';
import { Card } from '../../ui/Page.tsx';
import { Empty } from '../../ui/States.tsx';
import { type Column, Table } from '../../ui/Table.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { count, lazily, locale } from '../../words/numbers.ts';

type Deliverability = components['schemas']['Deliverability'];
interface Received {
  sent: number;
  bounces: number;
  complaints: number;
}

/** Who received the mail of a period: mailbox providers, and domains. */
export function Receivers({ domains, providers, countedSince }: Deliverability) {
  const note = countedSince ? (
    <p className="text-sm text-muted">
      Counted from the latest 50,000 emails, since <Timestamp at={countedSince} after />.
    </p>
  ) : null;
  return (
    <>
      <Card title="By mailbox provider">
        <div className="stack">
          <Rows label="By mailbox provider" name="Provider" rows={providers} nameOf={({ provider }) => provider} />
          {note}
        </div>
      </Card>
      <Card title="By recipient domain">
        <div className="stack">
          <Rows label="By recipient domain" name="Domain" rows={domains} nameOf={({ domain }) => domain} />
          {domains.length === 50 ? (
            <p className="text-sm text-muted">The 50 domains with the most complaints and bounces.</p>
          ) : null}
          {note}
        </div>
      </Card>
    </>
  );
}

function Rows<Row extends Received>({
  label,
  name,
  rows,
  nameOf,
}: {
  label: string;
  name: string;
  rows: readonly Row[];
  nameOf: (row: Row) => string;
}) {
  if (rows.length === 0) return <Empty title="No emails in this period">Emails you send appear here.</Empty>;
  const number = (key: keyof Received, title: string): Column<Row> => ({
    key,
    title,
    number: true,
    cell: (row) => count(row[key]),
  });
  const share = (key: 'bounces' | 'complaints', title: string): Column<Row> => ({
    key: `${key}-rate`,
    title,
    number: true,
    cell: (row) => percentOf(row[key], row.sent),
  });
  return (
    <Table
      label={label}
      rows={rows}
      rowKey={nameOf}
      columns={[
        { key: 'name', title: name, cell: (row) => <span className="break">{nameOf(row)}</span> },
        number('sent', 'Emails'),
        number('bounces', 'Bounces'),
        share('bounces', 'Bounce rate'),
        number('complaints', 'Complaints'),
        share('complaints', 'Complaint rate'),
      ]}
    />
  );
}

const percent = lazily(() => new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 2 }));

function percentOf(part: number, whole: number): string {
  return percent().format(whole === 0 ? 0 : part / whole);
}
