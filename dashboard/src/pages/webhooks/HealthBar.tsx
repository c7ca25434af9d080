import { Tip } from '../../ui/Tip.tsx';
import { count, counted } from '../../words/numbers.ts';
import { hourText } from '../../words/times.ts';
import type { Endpoint } from './endpoint.ts';

const colors = { failed: 'bg-bad', pending: 'bg-info', delivered: 'bg-good', none: 'bg-hover' } as const;

/** The deliveries of the last 24 hours, a bar for each hour; red as soon as one failed. */
export function HealthBar({ health }: { health: NonNullable<Endpoint['health']> }) {
  const sum = (key: 'delivered' | 'failed' | 'pending') => health.reduce((total, hour) => total + hour[key], 0);
  const [delivered, failed, pending] = [sum('delivered'), sum('failed'), sum('pending')];
  const text = `${count(delivered)} delivered, ${count(failed)} failed, ${count(pending)} pending in the last 24 hours`;
  return (
    <div className="flex flex-col gap-1">
      <div className="flex h-6 items-stretch gap-0.5" role="img" aria-label={text}>
        {health.map((hour) => {
          const kind =
            hour.failed > 0 ? 'failed' : hour.pending > 0 ? 'pending' : hour.delivered > 0 ? 'delivered' : 'none';
          return (
            <span key={hour.at} className="flex min-w-0 flex-1 *:flex *:flex-1">
              <Tip
                text={`${hourText(Date.parse(hour.at))}\n${counted(hour.delivered, 'delivery', 'deliveries')}, ${count(hour.failed)} failed, ${count(hour.pending)} pending`}
              >
                <span className={`flex-1 rounded-sm ${colors[kind]}`} />
              </Tip>
            </span>
          );
        })}
      </div>
      <span className="text-sm text-muted" aria-hidden>
        {text}
      </span>
    </div>
  );
}
