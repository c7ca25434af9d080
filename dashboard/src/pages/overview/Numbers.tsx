import { useQuery } from '@tanstack/react-query';
import { answer, api } from '../../api/client.ts';
import { Figure } from '../../ui/Figure.tsx';
import { Card } from '../../ui/Page.tsx';
import { Shown } from '../../ui/States.tsx';
import { count, rate } from '../../words/numbers.ts';

/** How many people there are, and what became of the mail since an instant. */
export function Numbers({ project, startDate }: { project: string; startDate: string }) {
  const setup = useQuery({
    queryKey: ['setup', project],
    queryFn: () => answer(api.GET('/projects/{id}/setup-state', { params: { path: { id: project } } })),
  });
  const stats = useQuery({
    queryKey: ['activity-stats', project, startDate],
    refetchInterval: 15_000,
    queryFn: () => answer(api.GET('/activity/stats', { params: { query: { startDate } } })),
  });
  return (
    <Card title="Last 30 days">
      <Shown query={stats}>
        {(told) => (
          <dl className="figures">
            <Figure name="Contacts" value={setup.data ? count(setup.data.data.contactCount) : '…'} />
            <Figure name="Emails sent" value={count(told.totalEmailsSent)} />
            <Figure name="Opened" value={rate(told.openRate)} />
            <Figure name="Clicked" value={rate(told.clickRate)} />
            <Figure name="Events" value={count(told.totalEvents)} />
            <Figure name="Workflows started" value={count(told.totalWorkflowsStarted)} />
          </dl>
        )}
      </Shown>
    </Card>
  );
}
