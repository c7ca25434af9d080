import { afterAll, beforeAll, expect, test } from 'vitest';
import { conditionQuery } from '../../src/contacts/conditions.ts';
import { parseCondition } from '../../src/lib/conditions/condition.ts';
import { whereOperators } from '../../src/lib/conditions/filters.ts';
import { type SegmentMap, segmentFacts } from '../../src/lib/conditions/segments.ts';
import { newId } from '../../src/lib/ids.ts';
import { type Database, type Query, sql } from '../../src/store/sql.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { inFull } from '../support/long.ts';
import { pagesOf, planOf, sequentialScans } from '../support/plans.ts';
import { sources } from './conditions-population.ts';
import { insertProject, insertSegments, stepExecutionOf } from './conditions-rows.ts';
import { leaf, operators } from './conditions-trees.ts';

// Each of these many people has so many events, a tenth of them clicks, and so many mails.
const eventsEach = 40;
const mailsEach = 4;
const people = inFull(125_000, 2_400);
/** How many people there are when it is asked first. */
const fewer = people / inFull(10, 4);
// 40 rows on as many pages, as many mails with their executions, and the ways to them.
const mostBuffers = 100;

const segmentId = newId();
const segments: SegmentMap = new Map([
  [segmentId, segmentFacts({ id: segmentId, type: 'STATIC', trackMembership: false, condition: null })],
]);
const [asked = '', campaign = ''] = [newId(), sources.campaignId[0]];

let database: TestDatabase;
let projectId: string;

beforeAll(async () => {
  database = await testDatabase(2);
  projectId = await insertProject(database.db.pool);
  await insertSegments(database.db.pool, projectId, [segmentId]);
  await database.db.count(
    `with automation as (
       insert into automations (id, project_id, name) select gen_random_uuid(), $1::uuid, 'Plans' returning id),
     version as (
       insert into automation_versions (id, automation_id, version, graph, hash)
       select gen_random_uuid(), id, 1, '{}', '' from automation returning id, automation_id)
     insert into automation_runs (id, project_id, automation_id, version_id, contact_id, entry, status)
     select gen_random_uuid(), $1, automation_id, id, gen_random_uuid(), 1, 'COMPLETED' from version`,
    [projectId],
  );
});
afterAll(() => database.close());

/** SQL of the ID of a contact. */
const idOf = (number: string) =>
  `case when ${number} = 7 then '${asked}' else md5($1::text || '/' || ${number})::uuid end`;

/** Inserts people with what they did, which is the same for all: neither a name, a template nor a step tells them apart. */
async function grow(db: Database, from: number, until: number): Promise<void> {
  const given = [projectId, from, until];
  const people = 'generate_series($2::integer, $3::integer - 1) n';
  await db.count(
    `insert into contacts (id, project_id, email, subscribed, data)
     select ${idOf('n')}, $1::text::uuid, 'buyer.' || n || '@example.com', true, '{"plan": "pro", "born": "1990-03-15", "a": {"b": 5}}'
     from ${people}`,
    given,
  );
  // In the order of time, so that what one person did lies far apart.
  for (let hour = eventsEach; hour > 0; hour -= 1)
    await db.count(
      `insert into events (id, project_id, contact_id, name, data, created_at)
       select uuidv7(), $1::text::uuid, ${idOf('n')}, case when $4 % 10 = 0 then 'email.click' else 'purchase' end,
         jsonb_build_object('total', $4, 'plan', 'pro', 'link', 'https://fernpost.example/a'), now() - $4::integer * interval '1 hour'
       from ${people}`,
      [...given, hour],
    );
  await db.count(
    `with mail as (
       insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, template_id, sent_at, delivered_at,
         opened_at, clicked_at, bounced_at, complained_at, workflow_step_execution_id)
       select m.id, $1::text::uuid, ${idOf('n')}, 'ada@example.com', 'hello@fernpost.test', 'TRANSACTIONAL', 'TRANSACTIONAL', $4,
         now(), now(), now(), now(), now(), now(), ${stepExecutionOf('m.id::text')}
       from generate_series(1, ${mailsEach}) mail, ${people}, md5($1::text || mail || 'mail' || n) hash, cast(hash as uuid) m (id)
       returning contact_id, workflow_step_execution_id as step)
     insert into automation_step_runs (id, run_id, project_id, contact_id, step_id, seq, step_type, step_name, status)
     select step, r.id, $1::text::uuid, mail.contact_id, $5, 10 * $2::integer + row_number() over (), 'SEND_EMAIL', 'Mail', 'COMPLETED'
     from mail, automation_runs r where r.project_id = $1::text::uuid`,
    [...given, sources.templateId[0], sources.stepId[0]],
  );
  await db.count(
    `insert into segment_memberships (segment_id, contact_id, entered_at) select $4, ${idOf('n')}, now() from ${people} where $1::text <> ''`,
    [...given, segmentId],
  );
  await db.pool.query('vacuum analyze contacts, events, emails, automation_step_runs, segment_memberships');
}

const window = { value: 2, unit: 'minutes' };
/** A filter of every kind with every operator, and every way to narrow one. Most find what they ask for last, or not at all. */
const filters: Record<string, unknown>[] = [
  ...operators.email.map((operator) => ({ field: 'email', operator, value: 'buyer' })),
  ...operators.subscribed.map((operator) => ({ field: 'subscribed', operator, value: false })),
  ...operators.date.map((operator) => ({ field: 'createdAt', operator, ...comparedBy(operator) })),
  ...operators.data.flatMap((operator) =>
    ['plan', 'born', 'a.b'].map((key) => ({ field: `data.${key}`, operator, ...comparedBy(operator) })),
  ),
  ...operators.event.flatMap((operator) =>
    ['purchase', 'never'].map((name) => ({ field: `event.${name}`, operator, ...window })),
  ),
  ...whereOperators.map((operator) => ({
    field: 'event.purchase',
    operator: 'triggered',
    where: [{ path: 'total', operator, value: 1_000 }],
  })),
  { field: 'event.purchase', operator: 'triggered', times: { atLeast: 1_000 } },
  { field: 'event.purchase', operator: 'triggeredWithin', ...window, times: { atLeast: 0, atMost: 1_000 } },
  ...operators.activity.flatMap((operator) =>
    [{}, { stepId: sources.stepId[1] }, { templateId: sources.templateId[1] }, { campaignId: campaign }].flatMap(
      (source) => {
        const of = Object.keys(source).length > 0 ? { of: source } : {};
        return [
          { field: 'email.opened', operator, ...window, ...of },
          { field: 'email.clicked', operator, ...window, ...of, link: 'https://fernpost.example/b' },
        ];
      },
    ),
  ),
  ...operators.segment.map((operator) => ({ field: `segment.${segmentId}`, operator })),
];

function comparedBy(operator: string): object {
  return /within|olderThan/i.test(operator) ? { value: 2, unit: 'days' } : { value: '2026-03-15' };
}

/** How many buffers a statement reads, and which tables from end to end. */
async function readingsOf(query: Query): Promise<{ buffers: number; scans: string[] }> {
  const nodes = await planOf(database.db, query);
  return { buffers: pagesOf(nodes[0]), scans: sequentialScans(nodes) };
}

/** Asks every filter of one contact: as the run of a step has it, and as it is stored. */
async function askEach(): Promise<number[]> {
  const stored = sql`select * from contacts where id = ${asked}::uuid and project_id = ${projectId}::uuid`;
  const row = await database.db.row<Record<string, unknown>>(stored);
  const columns = ['id', 'email', 'subscribed', 'data', 'created_at', 'updated_at'].map((name) => row?.[name]);
  const [id, email, subscribed, data, createdAt, updatedAt] = columns;
  const held = sql`select ${id}::uuid as id, ${projectId}::uuid as project_id, ${email}::text as email, ${subscribed}::boolean as subscribed,
    ${data}::jsonb as data, ${createdAt}::timestamptz as created_at, ${updatedAt}::timestamptz as updated_at`;
  const found: number[] = [];
  for (const filter of filters)
    for (const contact of [held, stored]) {
      const options = { projectId, now: new Date(), segments, reach: 'one' } as const;
      const holds = conditionQuery(parseCondition(leaf(filter)), options);
      const { buffers, scans } = await readingsOf(sql`select coalesce((${holds}), false) as holds from (${contact}) c`);
      expect([filter, scans]).toEqual([filter, []]);
      expect([filter, buffers]).toEqual([filter, expect.toSatisfy((number: number) => number <= mostBuffers)]);
      found.push(buffers);
    }
  return found;
}

test(`one contact among ${(people * eventsEach).toLocaleString('en-US')} events is answered by index scans within ${mostBuffers} buffers, as among fewer`, async () => {
  const { db } = database;
  await grow(db, 0, fewer);
  const before = await askEach();
  await grow(db, fewer, people);
  const after = await askEach();
  expect(await db.row('select count(*)::int as events from events')).toEqual({ events: people * eventsEach });
  // Indexes may be a level higher.
  const most = Math.max(...after.map((buffers, n) => buffers - (before[n] ?? 0)));
  expect(most).toBeLessThanOrEqual(20);
});
