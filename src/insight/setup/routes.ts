import * as v from 'valibot';
import { Campaign } from '../../campaigns/entity.ts';
import { contactTotals } from '../../contacts/catalogue-queries.ts';
import { Security } from '../../feedback/reputation/rules.ts';
import { securityOf } from '../../feedback/reputation/service.ts';
import type { App } from '../../http/context.ts';
import { noSuchProject } from '../../http/errors.ts';
import { route } from '../../http/route.ts';
import type { Config } from '../../lib/config/config.ts';
import { CampaignStatus } from '../../lib/enums.ts';
import { dayMs } from '../../lib/time.ts';
import { field, Instant, Integer, nameSchemas } from '../../lib/validation/fields.ts';
import type { ProjectFacts } from '../../projects/directory.ts';
import { isoText } from '../../store/columns.ts';
import { type Database, raw, sql } from '../../store/sql.ts';
import { listActivity } from '../activity/feed.ts';
import { ActivityItem, ActivityStats, Running } from '../activity/schema.ts';
import { activityStats, holdOf, runningNow, upcoming } from '../activity/stats.ts';
import { TimeSeries, timeSeries } from '../analytics/service.ts';

/** How far a project is set up (docs/contract/platform.md#2-3). */
const SetupState = v.object({
  hasSubscription: field('Whether the project has a paid subscription.', v.boolean()),
  hasVerifiedDomain: field('Whether the project has a verified and approved sender domain.', v.boolean()),
  contactCount: field('Number of contacts in the project.', Integer),
  lastCampaignSentAt: field('When the last campaign was sent; null if none was.', v.nullable(Instant)),
  hasEnabledWorkflow: field('Whether a workflow is enabled.', v.boolean()),
  publicKeyMode: field(
    'How the public key is limited. `hardened` is recommended as soon as browsers or apps use the key.',
    v.picklist(['contract', 'hardened']),
  ),
  links: field(
    'Other pages of this deployment; null where they cannot be opened from elsewhere.',
    v.object({
      inbox: field('URL of the mail sandbox; null with any other mail provider.', v.nullable(v.string())),
      temporal: field(
        'URL of the executions in Temporal’s Web UI; null where it cannot be opened from elsewhere.',
        v.nullable(v.string()),
      ),
    }),
  ),
});
type SetupState = v.InferOutput<typeof SetupState>;

type Places = Pick<Config, 'API_URI' | 'mailProvider' | 'SANDBOX_INBOX_URL' | 'TEMPORAL_UI_URL' | 'TEMPORAL_NAMESPACE'>;

/** Pages of this deployment that the dashboard links to. An address of the machine itself is of use only to who calls the API there too. */
export function linksOf(places: Places): SetupState['links'] {
  const isHere = isLocal(places.API_URI);
  const opened = (url: string) => (isHere || !isLocal(url) ? url.replace(/\/$/, '') : null);
  const temporal = opened(places.TEMPORAL_UI_URL);
  return {
    inbox: places.mailProvider === 'sandbox' ? opened(places.SANDBOX_INBOX_URL) : null,
    temporal: temporal && `${temporal}/namespaces/${encodeURIComponent(places.TEMPORAL_NAMESPACE)}/workflows`,
  };
}

function isLocal(url: string): boolean {
  return /^(localhost|127\.|\[::1\]|.*\.localhost$)/.test(new URL(url).hostname);
}

/** How far a project is set up, or null when it is gone. */
async function setupState(db: Database, projectId: string, places: Places): Promise<SetupState | null> {
  const [row, { contacts }] = await Promise.all([
    db.row<Omit<SetupState, 'contactCount' | 'links'>>(sql`
      select p.subscription is not null as "hasSubscription",
        exists (select from domains d where d.project_id = p.id and d.verified and d.approved) as "hasVerifiedDomain",
        (select ${raw(isoText('c.sent_at'))} from campaigns c
         where c.project_id = p.id and c.status = 'SENT' and c.sent_at is not null
         order by c.sent_at desc limit 1) as "lastCampaignSentAt",
        exists (select from automations a where a.project_id = p.id and a.enabled) as "hasEnabledWorkflow",
        p.public_key_mode as "publicKeyMode"
      from projects p where p.id = ${projectId}`),
    contactTotals(db, projectId),
  ]);
  return row && { ...row, contactCount: contacts, links: linksOf(places) };
}

const shownDays = 30;

/** Everything that the overview of a project shows, so that the page asks once. */
const Overview = v.object({
  setup: field('How far the project is set up.', SetupState),
  hasSent: field('Whether the project has ever sent or received an email.', v.boolean()),
  running: field('What is being worked on, as `GET /activity/running` returns it.', Running),
  totals: field(`Totals of the last ${shownDays} days.`, ActivityStats),
  days: field(
    `Mail by day of the last ${2 * shownDays} days, oldest first: those of \`totals\`, and as many before to compare them with.`,
    TimeSeries,
  ),
  reputation: field('How the project’s emails are received.', Security),
  campaigns: field(
    'The three campaigns that were sent last, newest first.',
    v.array(
      v.object({
        id: field('ID of the campaign.', v.string()),
        name: field('Name of the campaign.', v.string()),
        sentAt: field('When the campaign was sent.', v.nullable(Instant)),
        sentCount: field('Number of emails that the mail provider accepted.', Integer),
        openedCount: field('Number of emails that were opened at least once.', Integer),
        clickedCount: field('Number of emails in which at least one link was clicked.', Integer),
      }),
    ),
  ),
  recent: field('The latest 30 activities, newest first.', v.array(ActivityItem)),
  upcoming: field('The next eight scheduled campaigns and workflow emails, soonest first.', v.array(ActivityItem)),
});
type Overview = v.InferOutput<typeof Overview>;

nameSchemas({ ProjectOverview: Overview });

/** Reads the overview of a project, its parts beside one another; null when the project is gone. */
async function overviewOf(app: App, db: Database, project: ProjectFacts): Promise<Overview | null> {
  const { id } = project;
  const now = app.clock();
  const since = (days: number) => ({ startDate: dayBefore(now, days - 1) });
  const [setup, running, hold, totals, days, reputation, campaigns, recent, next] = await Promise.all([
    setupState(db, id, app.config),
    runningNow(db, id),
    holdOf(db, app.mailer.name, id),
    activityStats(db, id, since(shownDays), now),
    timeSeries(db, id, since(2 * shownDays), now),
    securityOf(db, id, now),
    lastCampaigns(db, id),
    listActivity({ app, db }, project, { limit: '30' }),
    upcoming(db, id, { limit: '8' }, now),
  ]);
  if (setup === null || reputation === null) return null;
  const hasSent =
    totals.totalEmailsSent > 0 ||
    setup.lastCampaignSentAt !== null ||
    (await activityStats(db, id, { startDate: '2020-01-01' }, now)).totalEmailsSent > 0;
  const { data } = recent;
  return {
    setup,
    hasSent,
    running: { data: running, hold },
    totals,
    days,
    reputation,
    campaigns,
    recent: data,
    upcoming: next.activities,
  };
}

/** The day (UTC) so many days before an instant. */
function dayBefore(at: Date, days: number): string {
  return new Date(at.getTime() - days * dayMs).toISOString().slice(0, 10);
}

async function lastCampaigns(db: Database, projectId: string): Promise<Overview['campaigns']> {
  const sent = await db.em.find(
    Campaign,
    { projectId, status: CampaignStatus.SENT, archived: false },
    {
      fields: ['name', 'sentAt', 'sentCount', 'openedCount', 'clickedCount'],
      orderBy: { sentAt: 'desc', id: 'desc' },
      limit: 3,
    },
  );
  return sent.map(({ id, name, sentAt, sentCount, openedCount, clickedCount }) => ({
    ...{ id, name, sentCount, openedCount, clickedCount },
    sentAt: sentAt?.toISOString() ?? null,
  }));
}

/** Routes of the set-up checklist and of the overview. */
export const setupRoutes = [
  route.get('/projects/:id/overview', {
    heavy: true,
    access: 'project',
    summary: 'Get the overview of a project',
    returns: 'Everything that the overview page of the dashboard shows.',
    reply: Overview,
    async handle({ app, db, project }) {
      const overview = await overviewOf(app, db, project);
      if (overview === null) throw noSuchProject(project.id);
      return overview;
    },
  }),
  route.get('/projects/:id/setup-state', {
    access: 'project',
    summary: 'Get the set-up state of a project',
    returns: 'Which steps of the setup are done, and the `links` to other pages of this deployment.',
    reply: v.object({
      success: field('Always `true`. A failed request returns an `Error` instead.', v.literal(true)),
      data: field('What is set up.', SetupState),
    }),
    async handle({ app, db, project }) {
      const data = await setupState(db, project.id, app.config);
      if (data === null) throw noSuchProject(project.id);
      return { success: true, data };
    },
  }),
];
