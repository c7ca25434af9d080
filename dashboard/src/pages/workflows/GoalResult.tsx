import { useQuery } from '@tanstack/react-query';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { count, counted, rate } from '../../words/numbers.ts';
import type { Reply } from './workflow.ts';

type Results = Reply<'/workflows/{id}/goal'>;
type Figures = Omit<Results, 'goal' | 'groups'>;

/** How many of those who have entered an automation have reached its goal, by version where there were several; nothing without a goal. */
export function GoalResult({ workflow }: { workflow: string }) {
  const project = useProjectId();
  const { data } = useQuery({
    queryKey: ['workflows', project, workflow, 'goal'],
    refetchInterval: 30_000,
    queryFn: () =>
      answer(api.GET('/workflows/{id}/goal', { params: { path: { id: workflow }, query: { by: 'version' } } })),
  });
  if (!data || data.entered + data.metOnEntry === 0) return null;
  const [newest] = data.groups;
  const days = data.groups.every(({ goal }) => goal?.withinDays === newest?.goal?.withinDays)
    ? newest?.goal?.withinDays
    : undefined;
  return (
    <section className="stack text-sm" aria-label="Goal results">
      <p>
        <Result figures={data} days={days} />
        {data.since ? (
          <>
            {' '}
            Contacts who entered since <Timestamp at={data.since} after />.
          </>
        ) : null}
        {data.open > 0 ? ` ${count(data.open)} still ${data.open === 1 ? 'has' : 'have'} time.` : ''}
        {data.metOnEntry > 0
          ? ` ${counted(data.metOnEntry, 'entry', 'entries')} not counted: the goal was met before.`
          : ''}
      </p>
      {data.groups.length > 1 ? (
        <ul>
          {data.groups.map(({ version, goal, ...figures }) => (
            <li key={version}>
              Version {version}: <Result figures={figures} days={goal?.withinDays} />
            </li>
          ))}
        </ul>
      ) : null}
    </section>
  );
}

function Result({ figures, days }: { figures: Figures; days: number | undefined }) {
  const { entered, met, interval, medianSeconds } = figures;
  const within = days === undefined ? 'in time' : `within ${counted(days, 'day')}`;
  const share = rateText(figures.rate, interval) || '.';
  const median = medianSeconds === null ? '' : `, median ${durationText(medianSeconds)}`;
  return (
    <>
      <strong>{`${count(met)} of ${count(entered)}`}</strong>
      {` reached the goal ${within}${share}${median}${share === '.' ? '' : '.'}`}
    </>
  );
}

/** A rate with its interval, `: 12% (8–17%)`; empty where too few have had the time. */
export function rateText(share: Figures['rate'], interval: Figures['interval']): string {
  if (share === null || interval === null) return '';
  return `: ${rate(share)} (${rate(interval.low).replace('%', '')}–${rate(interval.high)})`;
}

function durationText(seconds: number): string {
  const [unit, length] =
    seconds < 3600 ? ['minute', 60] : seconds < 86_400 ? ['hour', 3600] : (['day', 86_400] as [string, number]);
  const rounded = Math.round((seconds / Number(length)) * 10) / 10;
  return `${rounded} ${unit}${rounded === 1 ? '' : 's'}`;
}
