import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { Card, Page } from '../../ui/Page.tsx';
import { type Asked, Loading, Shown } from '../../ui/States.tsx';
import type { ActivityItem } from '../../words/activity-groups.ts';
import { comparedDays, type MailDay } from '../../words/ranges.ts';
import { ActivityRow } from '../activity/ActivityRow.tsx';
import { isDuplicate } from '../activity/kinds.ts';
import { MailDays } from '../analytics/MailChart.tsx';
import { FirstSteps } from './FirstSteps.tsx';
import { Health } from './Health.tsx';
import { LastCampaigns } from './LastCampaigns.tsx';
import { Links } from './Links.tsx';
import { lastCampaigns, mailByDay, mailTotals } from './mail.ts';
import { Numbers } from './Numbers.tsx';
import { Running } from './Running.tsx';
import { setupOf } from './setup.ts';

/** The numbers that matter, and what needs attention. */
export function Overview() {
  const project = useProjectId();
  const setup = useQuery(setupOf(project));
  // Asked for together with the setup, not after it.
  useQuery(mailTotals(project));
  useQuery(lastCampaigns(project));
  const mail = useQuery(mailByDay(project));
  return (
    <Page title="Overview" actions={<Links project={project} />}>
      {setup.isPending ? (
        // The first steps stand above everything else; whether they are needed is known with the setup.
        <Loading />
      ) : (
        <div className="stack">
          <FirstSteps project={project} />
          <Running project={project} />
          <Numbers project={project} />
          <MailCard query={mail} />
          <div className="stretch">
            <Health project={project} />
            <LastCampaigns project={project} />
          </div>
          <div className="stretch">
            <Recent project={project} />
            <Upcoming project={project} />
          </div>
        </div>
      )}
    </Page>
  );
}

function MailCard({ query }: { query: Asked<MailDay[]> }) {
  const days = useMemo(() => query.data && comparedDays(query.data).shown, [query.data]);
  if (days?.every(({ emails }) => emails === 0)) return null;
  return (
    <Card title="Emails by day">
      <div className="min-h-74">
        <Shown query={{ ...query, data: days }}>{(shown) => <MailDays days={shown} />}</Shown>
      </div>
    </Card>
  );
}

function Recent({ project }: { project: string }) {
  const recent = useQuery({
    queryKey: ['activity', project, 'recent'],
    refetchInterval: 10_000,
    // More than are shown: events that tell of a mail are left out.
    queryFn: () => answer(api.GET('/activity', { params: { query: { limit: 30 } } })),
  });
  if (recent.data?.data.length === 0) return null;
  return (
    <Card title="Recent activity">
      <div className="min-h-80">
        <Shown query={recent}>{({ data }) => <Rows items={latestOf(data)} />}</Shown>
      </div>
      <p className="mt-3">
        <Link to="/app/$project/activity" params={{ project }} className="inline-block min-h-6">
          All activity
        </Link>
      </p>
    </Card>
  );
}

function Upcoming({ project }: { project: string }) {
  const { data } = useQuery({
    queryKey: ['activity', project, 'upcoming'],
    queryFn: () => answer(api.GET('/activity/upcoming', { params: { query: { limit: 8 } } })),
  });
  if (!data?.activities.length) return null;
  return (
    <Card title="Upcoming">
      <Rows items={data.activities} />
    </Card>
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
