import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { countNewEvents } from '../../src/contacts/events/counting-queries.ts';
import { feedPage } from '../../src/insight/activity/feed-queries.ts';
import { activityStats, recentCount } from '../../src/insight/activity/stats.ts';
import { totalOf, totalOfContact } from '../../src/insight/activity/total-queries.ts';
import { type ActivityType, activityTypes, boundAt, sources } from '../../src/insight/activity/types.ts';
import { listDeliveries } from '../../src/insight/webhooks/log.ts';
import { parseCondition } from '../../src/lib/conditions/condition.ts';
import { newId } from '../../src/lib/ids.ts';
import { hourMs, sqlSpan } from '../../src/lib/time.ts';
import type { ListEmails } from '../../src/mail/emails/schema.ts';
import { listEmails } from '../../src/mail/emails/service.ts';
import { foldMailChanges } from '../../src/mail/ledger/mail-count-queries.ts';
import { countMatching } from '../../src/segments/queries.ts';
import type { Database, Query } from '../../src/store/sql.ts';
import { aProject, type TestProject } from '../support/api.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { type ExplainRow, type PlanNode, pagesOf, rowsRead } from '../support/plans.ts';

const mails = 30_000;
// What an index cannot answer whole is read up to here.
const mostLookedAt = 5_000;

let database: TestDatabase;
let project: TestProject;
let plans: PlanNode[];

beforeAll(async () => {
  database = await testDatabase();
  project = await aProject(database);
  const { db } = database;
  await db.count(
    `insert into contacts (id, project_id, email, subscribed)
     select uuidv7(), $1, 'reader.' || n || '@example.com', true from generate_series(1, 300) n`,
    [project.id],
  );
  // One mail in a hundred is another project's; of each rare kind there is one, older than all the rest.
  const other = await aProject(database);
  await db.count(
    `insert into emails (id, project_id, contact_id, to_address, "from", subject, source_type, message_class, status, reason,
       suppression, sent_at, delivered_at, opened_at, clicked_at, bounced_at, complained_at, created_at)
     select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid,
       case when n % 100 = 99 then $2::uuid else $1::uuid end, c.id, c.email, 'hello@fernpost.test', 'x',
       case when n = 11 then 'WORKFLOW' when n % 2 = 0 then 'CAMPAIGN' else 'TRANSACTIONAL' end, 'TRANSACTIONAL', status,
       case status when 'FAILED' then '{"code": "limit_reached"}'::jsonb when 'CANCELLED' then '{"code": "cancelled"}'
         when 'BOUNCED' then '{"code": "provider", "words": "550"}' end,
       case status when 'SUPPRESSED' then '{}'::jsonb end, at, at,
       case when status in ('OPENED', 'CLICKED') then at end, case status when 'CLICKED' then at end,
       case status when 'BOUNCED' then at end, case status when 'COMPLAINED' then at end, at
     from (
       select n, now() + make_interval(secs => n - $3::int - 60) as at, case when n <= 8
           then (array['FAILED', 'CANCELLED', 'SUPPRESSED', 'BOUNCED', 'COMPLAINED', 'OPENED', 'CLICKED', 'PENDING'])[n]
         else 'DELIVERED' end as status, row_number() over (order by n) % 300 as turn
       from generate_series(1, $3::int) n) m
     join (select id, email, row_number() over (order by email) - 1 as turn from contacts where project_id = $1) c on c.turn = m.turn
     order by n`,
    [project.id, other.id, mails],
  );
  await db.count(
    `insert into email_tags (email_id, project_id, name, value)
     select id, project_id, 'kind', case when status = 'DELIVERED' then 'usual' else 'rare' end from emails where project_id = $1`,
    [project.id],
  );
  await db.count(
    `insert into email_queue (email_id, project_id)
     select id, project_id from emails where project_id = $1 and status = 'PENDING'`,
    [project.id],
  );
  await db.rows('vacuum (analyze) emails, email_tags, email_queue, contacts');
});
afterAll(() => database.close());

/** The database, which keeps the plan of each statement that is run. */
function planned(): Database {
  const db = database.db.session();
  plans = [];
  const keep = async (query: Query | string, values: readonly unknown[] = []) => {
    const [text, all] = typeof query === 'string' ? [query, values] : [query.text, query.values];
    const row = await db.row<ExplainRow>(`explain (analyze, buffers, format json) ${text}`, all);
    if (row !== null) plans.push(row['QUERY PLAN'][0].Plan);
  };
  return {
    ...db,
    rows: async (query, values) => keep(query, values).then(() => db.rows(query, values)),
    row: async (query, values) => keep(query, values).then(() => db.row(query, values)),
  };
}

/** Most rows that a scan of one of these tables has read in a statement, with those that it left out. */
function mostRead(...tables: string[]): number {
  return Math.max(...plans.map((plan) => rowsRead(plan, tables)));
}

const span = { from: new Date(Date.now() - 20 * 86_400_000).toISOString() };
const compose = () => {
  throw new Error('Nothing is rendered that has its subject');
};
const list = (query: Partial<ListEmails>) =>
  listEmails(planned(), compose, project.id, query as ListEmails, new Date());

describe('a page of emails reads few rows, however many there are', () => {
  test.each<[name: string, query: Partial<ListEmails>, found: number]>([
    ['a span', span, 20],
    ['a contact', { to: 'reader.7@example.com' }, 20],
    ['an address without a contact', { to: 'nobody@example.com' }, 0],
    ['a tag', { tag: 'kind:usual' }, 20],
    ['a rare tag', { tag: 'kind:rare' }, 8],
    ['a tag that nothing has', { tag: 'kind:none' }, 0],
    ...['FAILED', 'CANCELLED', 'SUPPRESSED', 'BOUNCED', 'COMPLAINED', 'OPENED', 'CLICKED'].map(
      (status): [string, Partial<ListEmails>, number] => [
        status,
        { ...span, status: status as ListEmails['status'] },
        1,
      ],
    ),
    ['what is received', { ...span, status: 'RECEIVED' }, 0],
    ['what is frequent', { ...span, status: 'DELIVERED' }, 20],
    ['what waits', { ...span, status: 'PENDING' }, 1],
    ['campaigns', { ...span, source: 'CAMPAIGN' }, 20],
    ['a rare source', { ...span, source: 'WORKFLOW' }, 1],
    ['a source without mail', { ...span, source: 'INBOUND' }, 0],
    ['a rare status of a frequent source', { ...span, status: 'FAILED', source: 'TRANSACTIONAL' }, 1],
    ['a frequent status of a rare source', { ...span, status: 'DELIVERED', source: 'WORKFLOW' }, 1],
    ['scheduled mail', { scheduled: 'true' }, 0],
  ])('%s', async (_, query, found) => {
    const { data } = await list(query);
    expect(data).toHaveLength(found);
    expect(mostRead('emails', 'email_tags', 'email_queue')).toBeLessThan(300);
  });

  test('what no index answers is read in parts', async () => {
    const page = await list({ ...span, status: 'SENT' });
    expect(page).toMatchObject({ data: [], hasMore: true });
    // Rows of each source, and once more the keys of where the next part begins.
    expect(mostRead('emails')).toBeLessThanOrEqual(2 * mostLookedAt + 100);
    const parts = [page];
    for (let cursor = page.cursor; cursor !== null; cursor = parts.at(-1)?.cursor ?? null)
      parts.push(await list({ ...span, status: 'SENT', cursor }));
    expect(parts).toHaveLength(6);
  });
});

// A plan that is kept for any values reads and sorts the whole span.
test('a page is planned for its own values', async () => {
  const { db } = database;
  const names: unknown[] = [];
  const told: Database = {
    ...db,
    rows: (query, values) => {
      names.push((query as Query).name);
      return db.rows(query, values);
    },
    row: (query, values) => {
      names.push((query as Query).name);
      return db.row(query, values);
    },
  };
  await listEmails(told, compose, project.id, { ...span, subject: 'needle' } as ListEmails, new Date());
  expect(names).toEqual([null, null]);
});

test('a page of campaigns after the first begins where that ended', async () => {
  const first = await list({ ...span, source: 'CAMPAIGN' });
  const second = await list({
    ...span,
    source: 'CAMPAIGN',
    ...(first.cursor === null ? {} : { cursor: first.cursor }),
  });
  const [last, next] = [first.data.at(-1)?.id ?? '', second.data[0]?.id ?? ''];
  expect(next < last).toBe(true);
  expect(mostRead('emails')).toBeLessThan(300);
});

test('mail that was just created is counted along the index of the project', async () => {
  await recentCount(planned(), project.id, '60', new Date());
  expect(mostRead('emails')).toBeLessThan(4_000);
});

test('the log of an endpoint finds what failed by an index', async () => {
  const { db } = database;
  const endpoint = newId();
  await db.count(
    `insert into webhook_endpoints (id, project_id, url, events, secret_sealed, cursor_at, cursor_id, counted_from)
     values ($1, $2, 'https://example.com', '{*}', 'sealed', now(), $1, now())`,
    [endpoint, project.id],
  );
  await db.count(
    `insert into webhook_deliveries (id, endpoint_id, sequence, event_id, event_name, event_at, status)
     select uuidv7(), $1, n, uuidv7(), 'email.sent', now(), case when n = 5 then 'FAILED' when n > 9990 then 'PENDING' else 'DELIVERED' end
     from generate_series(1, 10000) n`,
    [endpoint],
  );
  await db.rows('vacuum (analyze) webhook_deliveries');
  for (const [status, found] of [['FAILED', 1] as const, ['PENDING', 10] as const, ['DELIVERED', 20] as const]) {
    const { data } = await listDeliveries(planned(), endpoint, { status });
    expect(data).toHaveLength(found);
    expect(mostRead('webhook_deliveries')).toBeLessThan(100);
  }
});

/** A project with a mail each six minutes, the last of them now, and its events: one mail in four is opened. Ten readers, in turn. */
async function withHistory(count: number): Promise<string> {
  const { db } = database;
  const { id } = await aProject(database, `History of ${count}`);
  await db.count(
    `with readers as (
       insert into contacts (id, project_id, email, subscribed)
       select uuidv7(), $1, 'reader.' || n || '@example.com', true from generate_series(0, 9) n returning id, email),
     numbered as (select id, email, row_number() over (order by email) - 1 as turn from readers),
     mails as (
       insert into emails (id, project_id, contact_id, to_address, "from", subject, source_type, message_class, status, message_id, sent_at,
         delivered_at, opened_at, created_at)
       select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '70009' || lpad(to_hex(n), 15, '0'))::uuid, $1, r.id, r.email,
         'hello@fernpost.test', 'x', 'TRANSACTIONAL', 'TRANSACTIONAL', 'DELIVERED', 'h' || n, at, at, case when n % 4 = 0 then at end, at
       from (select n, now() - make_interval(secs => 360 * n + 30) as at from generate_series(0, $2::int - 1) n) m join numbered r on r.turn = m.n % 10
       order by n desc returning *),
     counted as (
       insert into mail_count_changes (project_id, hour, outgoing, delivered, opened, rated)
       select project_id, date_bin('1 hour', created_at, timestamptz 'epoch'), count(*), count(*), count(opened_at), count(*) from mails group by 1, 2)
     insert into events (id, project_id, contact_id, email_id, name, created_at, mail_at)
     select (left(m.id::text, 15) || kind || substr(m.id::text, 17))::uuid, project_id, contact_id, m.id, name, at, at
     from mails m cross join lateral (values ('a', 'email.sent', sent_at), ('b', 'email.delivery', delivered_at), ('c', 'email.open', opened_at)) e (kind, name, at)
     where at is not null order by at`,
    [id, count],
  );
  return id;
}

test('what is asked about the newest days costs the same beside a longer history', async () => {
  const { db } = database;
  const now = new Date();
  const [short, long] = [await withHistory(500), await withHistory(2_000)];
  await db.rows(`update event_counts_state set counted_through = '-infinity'`);
  await expect
    .poll(async () => {
      await countNewEvents(db);
      return db.row(`select counted_through > '-infinity' as done from event_counts_state`);
    })
    .toEqual({ done: true });
  await foldMailChanges(db, async () => {});
  await db.rows('vacuum (analyze) emails, events, contacts, mail_counts, mail_count_changes, activity_counts');
  const startDate = new Date(now.getTime() - 30 * hourMs).toISOString();
  const range = sqlSpan({ from: new Date(startDate), until: null }, hourMs);
  const types = new Set<ActivityType>(activityTypes);
  const page = { from: range.from, bounds: sources.map(() => boundAt(null)), limit: 51 };
  const condition = parseCondition({
    logic: 'AND',
    groups: [{ filters: [{ field: 'email.opened', operator: 'triggeredWithin', value: 1, unit: 'hours' }] }],
  });
  const pages = async (read: (db: Database) => Promise<unknown>) => {
    await read(planned());
    return plans.reduce((sum, plan) => sum + pagesOf(plan), 0);
  };
  const asked = sources.map(() => true);
  const readerOf = async (id: string) =>
    (await db.row<{ id: string }>('select id from contacts where project_id = $1 order by email limit 1', [id]))?.id ??
    '';
  const readers = { [short]: await readerOf(short), [long]: await readerOf(long) };
  const costs = async (id: string) => ({
    feed: await pages((sql) => feedPage(sql, id, { ...page, contactId: null, asked })),
    total: await pages((sql) => totalOf(sql, id, range, types)),
    'feed of a contact': await pages((sql) => feedPage(sql, id, { ...page, contactId: readers[id] ?? '', asked })),
    'total of a contact': await pages((sql) => totalOfContact(sql, id, readers[id] ?? '', range, types)),
    stats: await pages((sql) => activityStats(sql, id, { startDate }, now)),
    segment: await pages((sql) => countMatching(sql, id, { condition, segments: new Map() }, now)),
  });
  const [beside, besideMore] = [await costs(short), await costs(long)];
  for (const [name, cost] of Object.entries(besideMore))
    expect(cost, name).toBeLessThan(1.1 * beside[name as keyof typeof beside] + 10);
});
