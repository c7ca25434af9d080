import { countNewEvents } from '../src/contacts/events/counting-queries.ts';
import { readConfig } from '../src/lib/config/config.ts';
import { foldMailChanges } from '../src/mail/ledger/mail-count-queries.ts';
import { startApi } from '../src/main/api/api-runtime.ts';
import { createFirstProject, type FirstProjectFacts } from '../src/main/projects/first-project.ts';
import { createLogger } from '../src/main/setup/process.ts';
import type { Database } from '../src/store/sql.ts';
import { fillMail, mailSize } from './support/mail.ts';
import { benchServices, benchStore } from './support/services.ts';

const repeats = Number(process.env.BENCH_REPEATS ?? 21);
const goalMs = 100;

/** The feed, statistics and security figures of one project with a great deal of mail, by HTTP. */
export async function benchAnalytics(): Promise<void> {
  const size = mailSize();
  await using services = await benchServices({ temporal: false });
  const env = {
    ...process.env,
    DATABASE_URL: services.databaseUrl,
    TEMPORAL_ADDRESS: services.temporalAddress,
    RATE_LIMIT_PER_MINUTE: '0',
    LOG_LEVEL: 'fatal',
  };
  const config = readConfig(env);
  const project = await createFirstProject(config);
  if (project === null) throw new Error('The database of a benchmark must be empty');
  await using store = await benchStore(services.databaseUrl, 3);
  const db = store.db;
  console.log(`\nAnalytics: one project, ${size.mails} mails to ${size.contacts} contacts within ${size.days} days`);
  await timed('  rows and indexes', () => fillMail(db, project.projectId, size));
  await timed('  counts of mail', () => foldMailChanges(db, async () => undefined));
  await timed('  counts of events', () => untilCounted(db));
  await sizes(db);
  await using api = await startApi({ ...config, PORT: 0 }, createLogger(config, 'api'));
  const requests = await requestsOf(db, project);
  console.log(` by HTTP, median and slowest of ${repeats} (goal ${goalMs} ms at the median)`);
  const failed: string[] = [];
  for (const [name, path] of requests) {
    const times: number[] = [];
    for (let round = 0; round < repeats; round++) times.push(await get(api.url, project, path));
    const inOrder = [...times].sort((one, other) => one - other);
    const median = inOrder[Math.floor(inOrder.length / 2)] ?? Number.NaN;
    console.log(`  ${name.padEnd(52)} ${ms(median)} ${ms(inOrder.at(-1) ?? 0)}   first ${ms(times[0] ?? 0)}`);
    if (median > goalMs) failed.push(name);
  }
  await scans(db, project.projectId);
  if (process.env.BENCH_PLANS) await plans(db, config, project, requests);
  if (failed.length > 0) console.log(` above the goal: ${failed.join(', ')}`);
}

type Requests = [name: string, path: string][];

async function requestsOf(db: Database, { projectId }: FirstProjectFacts): Promise<Requests> {
  const at = (days: number) => new Date(Date.now() - days * 86_400_000);
  const deep = await db.row<{ id: string; at: string }>(
    `select email_id as id, (extract(epoch from mail_at) * 1000)::bigint::text as at from events
     where project_id = $1 and name = 'email.open' and mail_at < $2::timestamptz order by mail_at desc limit 1`,
    [projectId, at(60).toISOString()],
  );
  const contact = await db.row<{ id: string }>('select id from contacts where project_id = $1 offset 100 limit 1', [
    projectId,
  ]);
  const cursor = `cursor=${deep?.at}_${deep?.id}_opened`;
  return [
    ['feed, first page with its total', '/activity'],
    ['feed, first page of 100', '/activity?limit=100'],
    ['feed, 60 days back by cursor', `/activity?${cursor}`],
    ['feed, bounces and complaints', '/activity?types=email.bounced,email.complaint'],
    ['feed, bounces and complaints, 60 days back', `/activity?types=email.bounced,email.complaint&${cursor}`],
    [
      'feed, sendings of a week',
      `/activity?types=email.sent&startDate=${at(40.3).toISOString()}&endDate=${at(33.4).toISOString()}`,
    ],
    ['feed, one contact', `/activity?contactId=${contact?.id}`],
    ['stats, 30 days', '/activity/stats'],
    ['stats, everything', '/activity/stats?startDate=2001-01-01'],
    ['recent-count, 60 minutes', '/activity/recent-count?minutes=60'],
    ['upcoming', '/activity/upcoming'],
    ['time series, 30 days', '/analytics/timeseries'],
    ['time series, 90 days', `/analytics/timeseries?startDate=${at(90).toISOString()}`],
    ['top campaigns', '/analytics/top-campaigns'],
    ['campaign stats', '/analytics/campaign-stats'],
    ['top events, 30 days with trend', '/analytics/top-events'],
    ['top events, 7 days with trend', `/analytics/top-events?startDate=${at(7).toISOString()}`],
    ['security', `/projects/${projectId}/security`],
  ];
}

async function get(url: string, project: FirstProjectFacts, path: string): Promise<number> {
  const began = performance.now();
  const answer = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${project.secretKey}` } });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path} ${answer.status}: ${text}`);
  return performance.now() - began;
}

/** Computes the same figures without kept counts: the floor that the counts have to beat. */
async function scans(db: Database, projectId: string): Promise<void> {
  console.log(' the same by a scan, once');
  await timed('  time series, 30 days', () =>
    db.rows(
      `select (created_at at time zone 'UTC')::date, count(*), count(opened_at), count(clicked_at), count(bounced_at), count(delivered_at)
       from emails where project_id = $1 and created_at >= now() - interval '30 days' group by 1`,
      [projectId],
    ),
  );
  await timed('  total of the feed, 30 days', () =>
    db.rows(
      `select count(*) from events where project_id = $1 and created_at >= now() - interval '30 days'
       union all select count(*) from events where project_id = $1 and mail_at >= now() - interval '30 days'`,
      [projectId],
    ),
  );
}

/** Prints the plan of every statement of each request, as Postgres ran it. */
async function plans(
  db: Database,
  config: ReturnType<typeof readConfig>,
  project: FirstProjectFacts,
  requests: Requests,
) {
  const settings = {
    session_preload_libraries: 'auto_explain',
    'auto_explain.log_min_duration': '0',
    'auto_explain.log_analyze': 'on',
    'auto_explain.log_timing': 'off',
    client_min_messages: 'log',
  };
  for (const [name, value] of Object.entries(settings))
    await db.rows(`alter database ${new URL(config.DATABASE_URL ?? '').pathname.slice(1)} set ${name} = '${value}'`);
  await using api = await startApi({ ...config, PORT: 0 }, createLogger(config, 'api'));
  const told: string[] = [];
  api.app.db.pool.on('connect', (client) => client.on('notice', ({ message }) => void told.push(message ?? '')));
  for (const [name, path] of requests) {
    // Five times, so that the plan is the one that stays.
    for (let round = 0; round < 6; round++) {
      told.length = 0;
      await get(api.url, project, path);
    }
    console.log(`\n-- ${name}`);
    for (const text of told) if (text.startsWith('duration')) console.log(shortened(text));
  }
}

function shortened(text: string): string {
  const plan = text.slice(text.indexOf('\n', text.indexOf('Query Text')));
  const lines = plan
    .split('\n')
    .filter((line) => /->|Scan|Sort|Index Cond|Rows Removed|JIT|^\w/.test(line) && !line.includes('never executed'));
  return `${text.slice(0, text.indexOf('\n'))}\n${lines.map((line) => line.slice(0, 160)).join('\n')}`;
}

async function untilCounted(db: Database): Promise<void> {
  while ((await countNewEvents(db)) === 0) await new Promise((resolve) => setTimeout(resolve, 1_000));
}

async function sizes(db: Database): Promise<void> {
  const rows = await db.rows<{ name: string; size: string; rows: string }>(
    `select c.relname as name, pg_size_pretty(pg_total_relation_size(c.oid)) as size, c.reltuples::bigint::text as rows
     from pg_class c where c.relname = any ('{emails,events,mail_counts,activity_counts,event_counts}')`,
  );
  for (const { name, size, rows: count } of rows)
    console.log(`  ${name.padEnd(18)} ${count.padStart(10)} rows ${size.padStart(10)}`);
}

async function timed(name: string, work: () => Promise<unknown>): Promise<void> {
  const began = performance.now();
  await work();
  console.log(`${name.padEnd(40)} ${ms(performance.now() - began)}`);
}

function ms(time: number): string {
  return `${time.toFixed(time < 100 ? 1 : 0)} ms`.padStart(12);
}

if (import.meta.main) await benchAnalytics();
