import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useProjectId } from '../../app/address.ts';
import { Card, Page } from '../../ui/Page.tsx';
import { Shown } from '../../ui/States.tsx';
import type { ActivityItem } from '../../words/activity-groups.ts';
import { comparedDays, type MailDay } from '../../words/ranges.ts';
import { ActivityRow } from '../activity/ActivityRow.tsx';
import { isDuplicate } from '../activity/kinds.ts';
import { MailDays } from '../analytics/MailChart.tsx';
import { FirstSteps } from './FirstSteps.tsx';
import { Health } from './Health.tsx';
import { LastCampaigns } from './LastCampaigns.tsx';
import { Links } from './Links.tsx';
import { Numbers } from './Numbers.tsx';
import { overviewOf } from './overview.ts';
import { Running } from './Running.tsx';

/** The numbers that matter, and what needs attention. */
export function Overview() {
  const project = useProjectId();
  const query = useQuery(overviewOf(project, useQueryClient()));
  return (
    <Page title="Overview" actions={<Links links={query.data?.setup.links} />}>
      <Shown query={query}>
        {(overview) => (
          <div className="stack">
            <FirstSteps project={project} overview={overview} />
            <Running project={project} items={overview.running.data} />
            <Numbers overview={overview} />
            <MailCard days={overview.days} />
            <div className="stretch">
              <Health project={project} reputation={overview.reputation} />
              <LastCampaigns project={project} campaigns={overview.campaigns} />
            </div>
            <div className="stretch">
              <Recent project={project} items={overview.recent} />
              <Upcoming items={overview.upcoming} />
            </div>
          </div>
        )}
      </Shown>
    </Page>
  );
}

function MailCard({ days }: { days: readonly MailDay[] }) {
  const { shown } = useMemo(() => comparedDays(days), [days]);
  if (shown.every(({ emails }) => emails === 0)) return null;
  return (
    <Card title="Emails by day">
      <div className="min-h-74">
        <MailDays days={shown} />
      </div>
    </Card>
  );
}

function Recent({ project, items }: { project: string; items: readonly ActivityItem[] }) {
  if (items.length === 0) return null;
  return (
    <Card title="Recent activity">
      <Rows items={latestOf(items)} />
      <p className="mt-3">
        <Link to="/app/$project/activity" params={{ project }} className="inline-block min-h-6">
          All activity
        </Link>
      </p>
    </Card>
  );
}

function Upcoming({ items }: { items: readonly ActivityItem[] }) {
  if (items.length === 0) return null;
  return (
    <Card title="Upcoming">
      <Rows items={items} />
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
