import { useQuery } from '@tanstack/react-query';
import { answer, api } from '../../api/client.ts';
import { Figure } from '../../ui/Figure.tsx';
import { Card } from '../../ui/Page.tsx';
import { Shown } from '../../ui/States.tsx';
import { changeOf, count, pointsOf, rate } from '../../words/numbers.ts';
import { startOf } from '../analytics/range.ts';
import { setupOf } from './setup.ts';

const dayMs = 86_400_000;
const hourMs = 3_600_000;

/** How many contacts there are, and what became of the mail of 30 days, beside the 30 days before. */
export function Numbers({ project }: { project: string }) {
  const setup = useQuery(setupOf(project));
  const startDate = startOf('30');
  // As much of the last day as has passed of this one, to the hour, so that the same is asked for a while.
  const endDate = new Date(Math.floor(Date.now() / hourMs) * hourMs - 30 * dayMs).toISOString();
  const stats = useQuery({
    queryKey: ['activity-stats', project, startDate],
    refetchInterval: 15_000,
    queryFn: () => answer(api.GET('/activity/stats', { params: { query: { startDate } } })),
  });
  const earlier = useQuery({
    queryKey: ['activity-stats', project, 'before', endDate],
    staleTime: hourMs,
    queryFn: () =>
      answer(
        api.GET('/activity/stats', {
          params: { query: { startDate: new Date(Date.parse(startDate) - 30 * dayMs).toISOString(), endDate } },
        }),
      ),
  });
  return (
    <Card title="Last 30 days">
      <Shown query={stats}>
        {(now) => {
          const before = earlier.data;
          const more = (result: string | undefined) => (result === undefined ? {} : { more: result });
          const amount = (name: 'totalEmailsHandedOver' | 'totalEvents' | 'totalWorkflowsStarted') => ({
            value: count(now[name]),
            ...more(before && changeOf(now[name], before[name])),
          });
          const share = (
            name: 'totalEmailsDelivered' | 'totalEmailsOpened' | 'totalEmailsClicked' | 'totalEmailsBounced',
          ) => {
            const of = (result: typeof now) =>
              result.totalEmailsHandedOver === 0 ? null : (result[name] / result.totalEmailsHandedOver) * 100;
            const [rateNow, rateBefore] = [of(now), before ? of(before) : null];
            return {
              value: rate(rateNow ?? 0),
              ...more(rateNow === null || rateBefore === null ? undefined : pointsOf(rateNow, rateBefore)),
            };
          };
          return (
            <div className="stack">
              <dl className="figures sm:grid-cols-4">
                <Figure name="Contacts" value={setup.data ? count(setup.data.data.contactCount) : '…'} />
                <Figure name="Emails sent" {...amount('totalEmailsHandedOver')} />
                <Figure name="Delivered" {...share('totalEmailsDelivered')} />
                <Figure name="Opened" {...share('totalEmailsOpened')} />
                <Figure name="Clicked" {...share('totalEmailsClicked')} />
                <Figure name="Bounced" {...share('totalEmailsBounced')} />
                <Figure name="Events" {...amount('totalEvents')} />
                <Figure name="Workflows started" {...amount('totalWorkflowsStarted')} />
              </dl>
              <p className="text-sm text-muted">Changes are against the 30 days before.</p>
            </div>
          );
        }}
      </Shown>
    </Card>
  );
}
