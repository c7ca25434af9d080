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
      name: 'Verify the domain you send from',
      how: 'Add it, copy its records to your DNS; it is checked every five minutes.',
      to: '/app/$project/domains' as const,
    },
    {
      isDone: state.contactCount > 0,
      name: 'Add a first contact',
      how: 'Import a file, or track an event of somebody.',
      to: '/app/$project/contacts' as const,
    },
    {
      isDone: stats.data.totalEmailsSent > 0 || state.lastCampaignSentAt !== null,
      name: 'Send a first email',
      how: 'A campaign, or POST /v1/send with the secret key.',
      to: '/app/$project/campaigns' as const,
    },
  ];
  if (steps.every(({ isDone }) => isDone)) return null;
  return (
    <Card title="First steps">
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
