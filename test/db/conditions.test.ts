import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decideCondition } from '../../src/automations/runtime/condition.ts';
import { conditionQuery } from '../../src/contacts/conditions.ts';
import { type Condition, parseCondition } from '../../src/lib/conditions/condition.ts';
import { type SegmentMap, segmentFacts } from '../../src/lib/conditions/segments.ts';
import type { JsonObjectValue } from '../../src/lib/contact-data.ts';
import { sql } from '../../src/store/sql.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { pagesOf, planOf, sequentialScans } from '../support/plans.ts';
import { evaluateCondition } from '../unit/conditions/evaluate-condition.ts';
import { aSubject, now, sources } from './conditions-population.ts';
import {
  insertPopulation,
  insertProject,
  insertSegments,
  insertSteps,
  type Row,
  stepExecutionOf,
} from './conditions-rows.ts';
import { aFilter, aTree, type Kind, leaf, operators } from './conditions-trees.ts';

const ids = {
  fixed: randomUUID(),
  tracked: randomUUID(),
  live: randomUUID(),
  outer: randomUUID(),
  circular: randomUUID(),
  unknown: randomUUID(),
};
const segmentIds = Object.values(ids);
const withMembershipRows = [ids.fixed, ids.tracked];
const populationCount = 4;
const aReach = fc.constantFrom('page' as const, 'all' as const, 'one' as const);

interface Population {
  projectId: string;
  rows: Row[];
  segments: SegmentMap;
}

let db: TestDatabase;
const populations: Population[] = [];

beforeAll(async () => {
  db = await testDatabase();
  await insertSegments(db.db.pool, await insertProject(db.db.pool), withMembershipRows);
  for (let index = 0; index < populationCount; index++) {
    const seen = new Set<string>();
    const subjects = fc
      .sample(aSubject(withMembershipRows), 150)
      .filter(({ contact }) => !seen.has(contact.email) && seen.add(contact.email))
      .slice(0, 60);
    const population = await insertPopulation(db.db.pool, subjects, withMembershipRows);
    populations.push({ ...population, segments: someSegments(population.rows) });
  }
  await db.db.pool.query('analyze');
});

afterAll(() => db.close());

/** One segment of each sort; the circle is what two edits at the same moment can leave behind. */
function someSegments(rows: Row[]): SegmentMap {
  const member = (id: string) => ({ filters: [{ field: `segment.${id}`, operator: 'memberOfSegment' }] });
  const notMember = (id: string) => ({ filters: [{ field: `segment.${id}`, operator: 'notMemberOfSegment' }] });
  const subscribed = leaf({ field: 'subscribed', operator: 'equals', value: true });
  const [anyTree] = fc.sample(aTree(rows, withMembershipRows), 1);
  const either = (...groups: unknown[]) => ({ logic: 'OR', groups });
  const untracked = { type: 'DYNAMIC' as const, trackMembership: false };
  const stored = [
    { id: ids.fixed, type: 'STATIC' as const, trackMembership: false, condition: null },
    { id: ids.tracked, type: 'DYNAMIC' as const, trackMembership: true, condition: subscribed },
    { id: ids.live, ...untracked, condition: anyTree },
    { id: ids.outer, ...untracked, condition: either(notMember(ids.live), member(ids.fixed)) },
    { id: ids.circular, ...untracked, condition: either(member(ids.circular), member(ids.tracked)) },
  ];
  return new Map(stored.map((segment) => [segment.id, segmentFacts(segment)]));
}

async function bySql(condition: Condition, population: Population, reach: 'page' | 'all' | 'one'): Promise<string[]> {
  const { projectId, segments } = population;
  const matches = conditionQuery(condition, { projectId, now, segments, reach });
  const rows = await db.db.rows<{ id: string }>(
    sql`select c.id from contacts c where c.project_id = ${projectId} and ${matches} order by c.id`,
  );
  return rows.map(({ id }) => id);
}

function byEvaluator(condition: Condition, { rows, segments }: Population): string[] {
  const matching = rows.filter(({ subject }) => evaluateCondition(condition, subject, { now, segments }));
  return matching.map(({ id }) => id).sort();
}

/** Compares the two on `runs` trees for each population. Answers how many contacts matched and how many trees split them. */
async function compare(treesOf: (rows: Row[]) => fc.Arbitrary<unknown>, runs: number) {
  const seen = { asked: 0, matched: 0, split: 0 };
  for (const population of populations) {
    const { rows } = population;
    await fc.assert(
      fc.asyncProperty(treesOf(rows), aReach, async (tree, reach) => {
        const condition = parseCondition(tree);
        const matched = await bySql(condition, population, reach);
        expect(matched).toEqual(byEvaluator(condition, population));
        seen.asked += rows.length;
        seen.matched += matched.length;
        seen.split += matched.length > 0 && matched.length < rows.length ? 1 : 0;
      }),
      { numRuns: runs },
    );
  }
  return seen;
}

describe('SQL and the evaluator agree', () => {
  test('on 1,200 random trees over random contacts', async () => {
    expect(populations).toHaveLength(populationCount);
    for (const { rows } of populations) expect(rows.length).toBeGreaterThan(40);
    const { split } = await compare((rows) => aTree(rows, segmentIds), 300);
    // Trees that match everybody or nobody prove little.
    expect(split).toBeGreaterThan(400);
  });

  test('on what a CONDITION step asks of one contact as it is there, and of the event that started the run', async () => {
    let held = 0;
    const trigger = { plan: 'pro', total: 80, when: '2026-03-15', a: { b: 5 } };
    const ofTrigger = fc.constantFrom<unknown>(
      { field: 'trigger.total', operator: 'greaterThan', value: 50 },
      { field: 'trigger.plan', operator: 'notEquals', value: 'pro' },
      { field: 'trigger.a.b', operator: 'equals', value: 5 },
      { field: 'trigger.when', operator: 'withinNext', value: 1, unit: 'days' },
      { field: 'trigger.missing', operator: 'notExists' },
    );
    // These projects have no segments, so nobody is a member of any.
    const asks = populations.flatMap(({ projectId, rows }) =>
      fc
        .sample(fc.tuple(aTree(rows, segmentIds), ofTrigger, fc.constantFrom(...rows), fc.constantFrom(...rows)), 25)
        .flatMap(([tree, filter, row, other]) =>
          [tree, leaf(filter)].map((condition) => ({ projectId, row, other, condition })),
        ),
    );
    for (const { projectId, row, other, condition } of asks) {
      // The step sees data that the run may have changed, with the history of the contact.
      const subject = { ...row.subject, contact: other.subject.contact };
      const { createdAt, updatedAt, data, ...rest } = subject.contact;
      const contact = {
        ...rest,
        id: row.id,
        data: data as JsonObjectValue,
        createdAt: createdAt.toISOString(),
        updatedAt: updatedAt.toISOString(),
      };
      const scope = { projectId, now, trigger: async () => trigger };
      const output = await decideCondition(db.db, { mode: 'tree', condition }, { contact, context: null }, scope);
      const memberships = new Set<string>();
      const holds = evaluateCondition(parseCondition(condition, true), { ...subject, memberships }, { now, trigger });
      expect([condition, output]).toEqual([condition, { mode: 'tree', result: holds, branch: holds ? 'yes' : 'no' }]);
      if (holds) held += 1;
    }
    expect(held).toBeGreaterThan(20);
    expect(held).toBeLessThan(asks.length - 20);
  });

  const every = Object.entries(operators).flatMap(([kind, names]) =>
    names.map((name) => [kind as Kind, name] as const),
  );

  test.each(every)('on single filters: %s %s', async (kind, operator) => {
    const { asked, matched } = await compare((rows) => aFilter(kind, operator, rows, segmentIds).map(leaf), 15);
    expect(matched).toBeGreaterThan(0);
    expect(matched).toBeLessThan(asked);
  });
});

test.each([
  ['contacts_data', { field: 'data.externalId', operator: 'equals', value: 'shared' }],
  ['contacts_email_trigrams', { field: 'email', operator: 'contains', value: 'needle' }],
])('a condition reads the entries of its own project in %s', async (index, filter) => {
  const { pool } = db.db;
  const [own, other] = [await insertProject(pool), await insertProject(pool)];
  // Of 3,000 contacts here one matches, and of as many of somebody else 300.
  await pool.query(
    `insert into contacts (id, project_id, email, subscribed, data)
     select uuidv7(), p.id, case when n % p.every = 1 then 'needle.' else 'hay.' end || n || '@example.com', true,
       jsonb_build_object('externalId', case when n % p.every = 1 then 'shared' else n::text end)
     from generate_series(1, 3000) n, (values ($1::uuid, 3001), ($2::uuid, 10)) p (id, every)`,
    [own, other],
  );
  await pool.query('vacuum analyze contacts');
  const matches = conditionQuery(parseCondition(leaf(filter)), {
    projectId: own,
    now,
    segments: new Map(),
    reach: 'all',
  });
  const read = await planOf(db.db, sql`select c.id from contacts c where c.project_id = ${own} and ${matches}`);
  expect(read.flatMap((node) => (node['Index Name'] === index ? [node['Actual Rows']] : []))).toEqual([1]);
});

test('filters on what one contact did read its own entries of indexes, however much others did', async () => {
  const { pool } = db.db;
  const own = await insertProject(pool);
  // Everybody buys and opens the same, so that the name, the template and the step tell nothing apart; one asks for the tenth contact.
  await pool.query(
    `with people as (
       insert into contacts (id, project_id, email, subscribed, data)
       select uuidv7(), $1, 'buyer.' || n || '@example.com', true, '{}' from generate_series(1, 200) n returning id),
     bought as (
       insert into events (id, project_id, contact_id, name, data, created_at)
       select uuidv7(), $1, id, name, jsonb_build_object('total', n, 'link', 'https://fernpost.example/a'), now() - n * interval '1 hour'
       from people, generate_series(1, 20) n, unnest(array['purchase', 'email.click']) name)
     insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, template_id, opened_at,
       workflow_step_execution_id)
     select md5(id || 'mail' || n)::uuid, $1, id, 'ada@example.com', 'hello@fernpost.test', 'TRANSACTIONAL', 'TRANSACTIONAL', $2, now(),
       ${stepExecutionOf("md5(id || 'mail' || n)")}
     from people, generate_series(1, 20) n`,
    [own, sources.templateId[0]],
  );
  const mail = await db.db.rows<{ id: string; mailId: string }>(
    sql`select contact_id as id, id as "mailId" from emails where project_id = ${own}`,
  );
  await insertSteps(
    pool,
    own,
    mail.map((each) => ({ ...each, stepId: sources.stepId[1] })),
  );
  await pool.query('vacuum analyze contacts, events, emails, automation_step_runs');
  const [tenth] = await db.db.rows<{ id: string }>(
    sql`select id from contacts where project_id = ${own} order by id offset 9 limit 1`,
  );
  const where = [{ path: 'total', operator: 'greaterThan', value: 100 }];
  const filters = [
    { field: 'event.purchase', operator: 'triggered', where },
    { field: 'event.purchase', operator: 'notTriggeredWithin', value: 2, unit: 'minutes' },
    { field: 'event.purchase', operator: 'triggered', times: { atLeast: 21 } },
    { field: 'email.opened', operator: 'triggered', of: { templateId: sources.templateId[1] } },
    { field: 'email.opened', operator: 'triggered', of: { campaignId: sources.campaignId[0] } },
    { field: 'email.opened', operator: 'triggered', of: { stepId: sources.stepId[0] } },
    { field: 'email.clicked', operator: 'triggered', link: 'https://fernpost.example/b' },
  ];
  for (const filter of filters) {
    const matches = conditionQuery(parseCondition(leaf(filter)), { projectId: own, now: new Date(), reach: 'one' });
    const nodes = await planOf(
      db.db,
      sql`select coalesce((${matches}), false) as holds from contacts c where c.id = ${tenth?.id ?? ''} and c.project_id = ${own}`,
    );
    expect([filter, sequentialScans(nodes)]).toEqual([filter, []]);
    const buffers = pagesOf(nodes[0]);
    // 20 rows on as many pages and the ways to them; reading what everybody did takes thousands.
    expect([filter, buffers]).toEqual([filter, expect.toSatisfy((number: number) => number > 0 && number <= 100)]);
  }
});
