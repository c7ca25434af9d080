import type { components } from '../../api/schema.d.ts';
import { Badge, type Tone } from '../../ui/Badge.tsx';
import { Card } from '../../ui/Page.tsx';
import { Note } from '../../ui/States.tsx';
import { Table } from '../../ui/Table.tsx';
import { counted, rate } from '../../words/numbers.ts';

type Deliverability = components['schemas']['Deliverability'];
type Limit = Deliverability['limits'][number];

/** How the levels of limits are named and meant. */
export const levels: Record<Limit['level'], { name: string; tone: Tone }> = {
  healthy: { name: 'Healthy', tone: 'good' },
  warning: { name: 'High', tone: 'warn' },
  critical: { name: 'Too high', tone: 'bad' },
};
const windows: Record<Limit['window'], string> = {
  twentyFourHour: 'last 24 hours',
  sevenDay: 'last 7 days',
  allTime: 'all time',
};
const names: Record<Limit['of'], Record<Limit['unit'], string>> = {
  bounces: { percent: 'Bounce rate', emails: 'Bounces' },
  complaints: { percent: 'Spam complaint rate', emails: 'Spam complaints' },
};

/** Where the project stands against the limits that pause it. */
export function ReputationLimits({ limits, pauses, isPaused }: Pick<Deliverability, 'limits' | 'pauses' | 'isPaused'>) {
  const shown = limits.filter(({ unit, applies }) => unit === 'percent' || applies);
  return (
    <Card title="Limits">
      <div className="stack">
        {isPaused ? <Note tone="bad">Sending is paused for this project. Contact your administrator.</Note> : null}
        <p className="muted">
          {pauses
            ? 'When a rate or number is too high, sending pauses until an operator allows it again.'
            : 'This installation warns about limits and doesn’t pause sending.'}
        </p>
        <Table
          label="Limits"
          rows={shown}
          rowKey={({ of, window, unit }) => `${of} ${window} ${unit}`}
          columns={[
            { key: 'name', title: 'Limit', cell: ({ of, unit, window }) => `${names[of][unit]}, ${windows[window]}` },
            { key: 'value', title: 'Now', cell: (limit) => amount(limit, limit.value) },
            {
              key: 'level',
              title: 'Status',
              cell: ({ level, applies }) =>
                applies ? (
                  <Badge tone={levels[level].tone}>{levels[level].name}</Badge>
                ) : (
                  <span className="muted">Fewer than 100 emails</span>
                ),
            },
            { key: 'warning', title: 'Warns at', cell: (limit) => bound(limit, limit.warning) },
            { key: 'critical', title: 'Too high at', cell: (limit) => bound(limit, limit.critical) },
          ]}
        />
      </div>
    </Card>
  );
}

// Complaint rates are hundredths of a percent.
function amount({ unit, of }: Limit, value: number): string {
  if (unit === 'emails') return counted(value, 'email');
  return of === 'bounces'
    ? rate(value)
    : `${new Intl.NumberFormat('en-US', { maximumFractionDigits: 3 }).format(value)}%`;
}

function bound(limit: Limit, { rate: share, count: least }: Limit['critical']): string {
  if (limit.unit === 'emails') return counted(least, 'email');
  return `${amount(limit, share)} and at least ${counted(least, limit.of === 'bounces' ? 'bounce' : 'complaint')}`;
}
