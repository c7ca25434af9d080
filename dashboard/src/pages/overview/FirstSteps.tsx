import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CircleCheck, CircleDashed } from 'lucide-react';
import { answer, api } from '../../api/client.ts';
import { Card } from '../../ui/Page.tsx';

/** The way to a first email, each step ticking itself off; gone once all are done. */
export function FirstSteps({ project }: { project: string }) {
  const setup = useQuery({
    queryKey: ['setup', project],
    refetchInterval: 5_000,
    queryFn: () => answer(api.GET('/projects/{id}/setup-state', { params: { path: { id: project } } })),
  });
  const stats = useQuery({
    queryKey: ['activity-stats', project, 'ever'],
    refetchInterval: ({ state }) => (state.data?.totalEmailsSent ? false : 5_000),
    queryFn: () => answer(api.GET('/activity/stats', { params: { query: { startDate: '2020-01-01T00:00:00.000Z' } } })),
  });
  const state = setup.data?.data;
  if (!state || !stats.data) return null;
  const steps = [
    {
      isDone: state.hasVerifiedDomain,
      name: 'Verify your sending domain',
      how: 'Add the domain and copy its records to your DNS. We check them every five minutes.',
      to: '/app/$project/domains' as const,
    },
    {
      isDone: state.contactCount > 0,
      name: 'Add your first contact',
      how: 'Import a CSV file, or track an event.',
      to: '/app/$project/contacts' as const,
    },
    {
      isDone: stats.data.totalEmailsSent > 0 || state.lastCampaignSentAt !== null,
      name: 'Send your first email',
      how: 'Create a campaign, or call POST /v1/send with your secret key.',
      to: '/app/$project/campaigns' as const,
    },
  ];
  if (steps.every(({ isDone }) => isDone)) return null;
  return (
    <Card title="Get started">
      <ol className="stack">
        {steps.map(({ isDone, name, how, to }) => (
          <li key={name} className="row">
            {isDone ? <CircleCheck aria-hidden /> : <CircleDashed aria-hidden />}
            <div>
              {isDone ? (
                <span>
                  {name} <span className="sr-only">(done)</span>
                </span>
              ) : (
                <Link to={to} params={{ project }}>
                  {name}
                </Link>
              )}
              <div className="muted">{how}</div>
            </div>
          </li>
        ))}
      </ol>
    </Card>
  );
}
