import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { Card, Page } from '../../ui/Page.tsx';
import { Empty, Shown } from '../../ui/States.tsx';
import { type ActivityItem, ActivityRow } from '../activity/ActivityRow.tsx';
import { isDuplicate } from '../activity/kinds.ts';
import { MailChart } from '../analytics/MailChart.tsx';
import { startOf } from '../analytics/range.ts';
import { FirstSteps } from './FirstSteps.tsx';
import { Health } from './Health.tsx';
import { Links } from './Links.tsx';
import { Numbers } from './Numbers.tsx';
import { Running } from './Running.tsx';

/** The numbers that matter, and what needs attention. */
export function Overview() {
  const project = useProjectId();
  const recent = useQuery({
    queryKey: ['activity', project, 'recent'],
    refetchInterval: 10_000,
    // More than are shown: events that tell of a mail are left out.
    queryFn: () => answer(api.GET('/activity', { params: { query: { limit: 30 } } })),
  });
  const upcoming = useQuery({
    queryKey: ['activity', project, 'upcoming'],
    queryFn: () => answer(api.GET('/activity/upcoming', { params: { query: { limit: 8 } } })),
  });
  return (
    <Page title="Overview" actions={<Links project={project} />}>
      <div className="stack">
        <FirstSteps project={project} />
        <Numbers project={project} />
        <div className="stretch">
          <Health project={project} />
          <Running project={project} />
        </div>
        <Card title="Emails by day">
          <MailChart project={project} startDate={startOf('30')} />
        </Card>
        <div className="stretch">
          <Card title="Recent activity">
            <Shown query={recent}>
              {({ data }) =>
                data.length === 0 ? (
                  <Empty title="No activity yet">Send an email or track an event to see it here.</Empty>
                ) : (
                  <Rows items={latestOf(data)} />
                )
              }
            </Shown>
            <p>
              <Link to="/app/$project/activity" params={{ project }} className="inline-block min-h-6">
                All activity
              </Link>
            </p>
          </Card>
          <Card title="Upcoming">
            <Shown query={upcoming}>
              {({ activities }) =>
                activities.length === 0 ? (
                  <Empty title="Nothing scheduled">Scheduled campaigns and workflow emails appear here.</Empty>
                ) : (
                  <Rows items={activities} />
                )
              }
            </Shown>
          </Card>
        </div>
      </div>
    </Page>
  );
}

const mostRecent = 8;

// After a campaign everything on the first page may be an event of a mail; then those are the recent activity.
function latestOf(items: readonly ActivityItem[]): readonly ActivityItem[] {
  const once = items.filter((item) => !isDuplicate(item));
  return (once.length < Math.min(mostRecent, items.length) ? items : once).slice(0, mostRecent);
}

function Rows({ items }: { items: readonly ActivityItem[] }) {
  return (
    <ul className="stack">
      {items.map((item) => (
        <li key={item.id}>
          <ActivityRow item={item} />
        </li>
      ))}
    </ul>
  );
}
