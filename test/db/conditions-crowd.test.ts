import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { treesHold } from '../../src/automations/runtime/condition.ts';
import { conditionQuery } from '../../src/contacts/conditions.ts';
import { parseCondition } from '../../src/lib/conditions/condition.ts';
import { whereOperators } from '../../src/lib/conditions/filters.ts';
import { type SegmentMap, segmentFacts } from '../../src/lib/conditions/segments.ts';
import type { JsonObjectValue } from '../../src/lib/contact-data.ts';
import { sql } from '../../src/store/sql.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { inFull } from '../support/long.ts';
import { evaluateCondition } from '../unit/conditions/evaluate-condition.ts';
import { aSubject, now, sources } from './conditions-population.ts';
import { insertPopulation, insertProject, insertSegments, type Row } from './conditions-rows.ts';
import { aFilter, type Kind, leaf, operators } from './conditions-trees.ts';

// As many contacts as were promised, in projects that one statement can write.
const projects = inFull(50, 2);
const contactsEach = inFull(2_000, 400);
const asksEach = 2;
/** Of each project, contacts that a step asks about. */
const askedAlone = 10;

// The second is the day that stands in for a leap day, the third one before it, and the fourth begins another year within an hour.
const instants = [now, '2027-02-28T00:00:00.000Z', '2028-02-28T23:59:59.999Z', '2026-12-31T23:30:00.000Z'].map(
  (instant) => new Date(instant),
);
const ids = { fixed: randomUUID(), tracked: randomUUID(), live: randomUUID(), unknown: randomUUID() };
const withMembershipRows = [ids.fixed, ids.tracked];
const pro = leaf({ field: 'data.plan', operator: 'equals', value: 'pro' });
const segments: SegmentMap = new Map(
  [
    { id: ids.fixed, type: 'STATIC' as const, trackMembership: false, condition: null },
    { id: ids.tracked, type: 'DYNAMIC' as const, trackMembership: true, condition: pro },
    { id: ids.live, type: 'DYNAMIC' as const, trackMembership: false, condition: pro },
  ].map((segment) => [segment.id, segmentFacts(segment)]),
);

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
  await insertSegments(db.db.pool, await insertProject(db.db.pool), withMembershipRows);
});
afterAll(() => db.close());

/** Filters with every operator of every kind of field, and for data of the event that started a run too. */
function everyFilter(rows: Row[]): { name: string; filter: Record<string, unknown> }[] {
  const sampled = (name: string, kind: Kind, operator: string) =>
    fc
      .sample(aFilter(kind, operator, rows, Object.values(ids)), asksEach)
      .map((filter) => ({ name, filter: filter as Record<string, unknown> }));
  return Object.entries(operators).flatMap(([kind, names]) =>
    names.flatMap((operator) => [
      ...sampled(`${kind} ${operator}`, kind as Kind, operator),
      ...(kind === 'data' ? sampled(`trigger ${operator}`, kind, operator) : []).map(({ name, filter }) => ({
        name,
        filter: { ...filter, field: String(filter.field).replace(/^data/, 'trigger') },
      })),
    ]),
  );
}

const purchase = { field: 'event.purchase', operator: 'triggered' };
const links = [...Object.entries(sources).map(([source, [id]]) => ({ of: { [source]: id } })), {}];
/** Every way to narrow a filter on events or mail. */
const narrowed = [
  ...whereOperators.map((operator) => ({ ...purchase, where: [{ path: 'plan', operator, value: 'pro' }] })),
  { ...purchase, times: { atLeast: 2 } },
  { ...purchase, times: { atLeast: 0, atMost: 1 } },
  { ...purchase, operator: 'triggeredWithin', value: 30, unit: 'days', times: { atLeast: 1, atMost: 2 } },
  ...links.flatMap((of) => [
    { field: 'email.opened', operator: 'triggered', ...of },
    { field: 'email.clicked', operator: 'notTriggered', ...of, link: 'https://fernpost.example/a' },
  ]),
].map((filter) => ({ name: JSON.stringify(filter), filter }));

// Nothing is greater than true, so that the SQL has no use for the event.
const neverTrue = { name: 'trigger never', filter: { field: 'trigger.plan', operator: 'greaterThan', value: true } };

test(`SQL for many, SQL for one and the evaluator agree about ${(projects * contactsEach).toLocaleString('en-US')} contacts on every filter`, async () => {
  const seen = new Map<string, { asked: number; matched: number }>();
  for (let place = 0; place < projects; place += 1) {
    const subjects = fc
      .sample(aSubject(withMembershipRows), contactsEach)
      .map(({ contact, ...rest }, n) => ({ ...rest, contact: { ...contact, email: `${n}.${contact.email}` } }));
    const { projectId, rows } = await insertPopulation(db.db.pool, subjects, withMembershipRows);
    await db.db.pool.query('analyze');
    const at = instants[place % instants.length] ?? now;
    const trigger = { ...subjects[0]?.contact.data, ...subjects[1]?.contact.data, plan: 'pro' };
    const filters = [...everyFilter(rows), ...narrowed, neverTrue];
    for (const { name, filter } of filters) {
      const condition = parseCondition(leaf(filter), true);
      const options = { now: at, segments, trigger };
      const holds = rows.filter(({ subject }) => evaluateCondition(condition, subject, options)).map(({ id }) => id);
      for (const reach of ['page', 'all', 'one'] as const) {
        const test = conditionQuery(condition, { ...options, projectId, reach });
        const found = await db.db.rows<{ id: string }>(
          sql`select c.id from contacts c where c.project_id = ${projectId} and ${test}`,
        );
        expect([filter, reach, found.map(({ id }) => id).sort()]).toEqual([filter, reach, holds.sort()]);
      }
      const { asked, matched } = seen.get(name) ?? { asked: 0, matched: 0 };
      seen.set(name, { asked: asked + rows.length, matched: matched + holds.length });
    }
    // As a step asks, of the contact as the run has it. The project has no segments of its own.
    const trees = filters.map(({ filter }) => leaf(filter));
    for (const { id, subject } of rows.slice(0, askedAlone)) {
      const { createdAt, updatedAt, data, ...rest } = subject.contact;
      const dates = { createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
      const contact = { ...rest, ...dates, id, data: data as JsonObjectValue };
      const scope = { projectId, now: at, trigger: async () => trigger as JsonObjectValue };
      const alone = { ...subject, memberships: new Set<string>() };
      const expected = trees.map((tree) => evaluateCondition(parseCondition(tree, true), alone, { now: at, trigger }));
      const held: boolean[] = [];
      for (let n = 0; n < trees.length; n += 20)
        held.push(...(await treesHold(db.db, trees.slice(n, n + 20), contact, scope)));
      expect(trees.filter((_, n) => held[n] !== expected[n])).toEqual([]);
    }
  }
  // Filters that match everybody or nobody prove little. Among few contacts chance makes one of them now and then.
  const dull = [...seen].filter(
    ([name, { asked, matched }]) => !name.startsWith('trigger') && (matched === 0 || matched === asked),
  );
  if (projects * contactsEach >= 100_000) expect(dull).toEqual([]);
  else expect(dull.length).toBeLessThan(seen.size / 10);
});
