import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import pLimit from 'p-limit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compileCondition } from '../../src/audience/conditions/index.ts';
import { storedDefinition } from '../../src/audience/segments/index.ts';
import { sql } from '../../src/core/database/sql.ts';
import { explainCampaign } from '../../src/insight/explain/campaign.ts';
import { traceCondition } from '../../src/insight/explain/condition.ts';
import { contactFacts, findCampaign } from '../../src/insight/explain/queries.ts';
import { expandFrom } from '../../src/sending/campaigns/expand-audience.ts';
import { loadExpansion } from '../../src/sending/campaigns/expansion.ts';
import { openSend } from '../../src/sending/campaigns/state.ts';
import { aCampaign } from '../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { isLong } from '../support/long.ts';
import { aSubject, now } from './conditions-population.ts';
import { insertPopulation, insertProject, insertSegments, type Row } from './conditions-rows.ts';
import { aTree } from './conditions-trees.ts';

const people = isLong ? 2_000 : 120;
const campaigns = isLong ? 20 : 12;

// Of another project: a segment that is gone has no members.
const segmentIds = [randomUUID()];

let database: TestDatabase;
let projectId: string;
let rows: Row[];

beforeAll(async () => {
  database = await testDatabase();
  await insertSegments(database.db.pool, await insertProject(database.db.pool), segmentIds);
  const seen = new Set<string>();
  const subjects = fc
    .sample(aSubject(segmentIds), people * 3)
    .filter(({ contact }) => !seen.has(contact.email) && seen.add(contact.email))
    .slice(0, people);
  ({ projectId, rows } = await insertPopulation(database.db.pool, subjects, []));
  await database.db.pool.query('analyze');
});
afterAll(() => database.close());

const project = () => ({ id: projectId, sender: 'hello@posthorn.test' }) as never;

async function contactOf(id: string) {
  const contact = await contactFacts(database.db, projectId, id);
  if (contact === null) throw new Error('The contact is gone');
  return contact;
}

test('an explanation says of everybody what the ledger says, and always why not', async () => {
  const { db } = database;
  const seen = { inside: 0, outside: 0 };
  for (const tree of fc.sample(aTree(rows, segmentIds), campaigns)) {
    const type = fc.sample(fc.constantFrom('MARKETING' as const, 'TRANSACTIONAL' as const), 1)[0] ?? 'MARKETING';
    const id = await aCampaign(db, project(), { audienceType: 'FILTERED', audienceCondition: tree as object, type });
    await openSend(db, id, people, null);
    // The population lives around this instant: some contacts came later.
    await db.count(sql`update campaigns set sent_at = ${now} where id = ${id}`);
    const send = await loadExpansion(db, id, 1);
    if (send === null) throw new Error('The send is gone');
    const deps = { db, billing: { freeTier: null }, clock: () => now, cursors: pLimit(1) };
    await expandFrom(deps, send, () => undefined);
    const mailed = new Set(
      (await db.rows<{ id: string }>(sql`select contact_id as id from emails where campaign_id = ${id}`)).map(
        (row) => row.id,
      ),
    );
    const campaign = await findCampaign(db, projectId, id);
    if (campaign === null) throw new Error('The campaign is gone');
    for (const { id: contactId } of rows) {
      const { verdict, sentence, decisions } = await explainCampaign(
        db,
        projectId,
        await contactOf(contactId),
        campaign,
        90,
      );
      const isIn = mailed.has(contactId);
      expect([contactId, verdict]).toEqual([contactId, isIn ? 'will' : 'did_not']);
      expect(sentence).not.toBe('');
      expect(decisions.some(({ outcome }) => outcome === 'stop')).toBe(!isIn);
      seen[isIn ? 'inside' : 'outside'] += 1;
    }
  }
  expect(seen.inside).toBeGreaterThan(0);
  expect(seen.outside).toBeGreaterThan(0);
});

test('the filters of a trace come together to what the whole condition answers', async () => {
  const { db } = database;
  const today = new Date();
  const asked = rows.slice(0, 40);
  for (const tree of fc.sample(aTree(rows, segmentIds), isLong ? 200 : 40)) {
    const { condition, segments } = await storedDefinition(db, projectId, tree);
    const whole = compileCondition(condition, { projectId, now: today, segments, asOf: today });
    const matching = await db.rows<{ id: string }>(
      sql`select c.id from contacts c where c.project_id = ${projectId} and ${whole}`,
    );
    const matches = new Set(matching.map(({ id }) => id));
    for (const { id } of asked) {
      const { holds, decisions } = await traceCondition(db, projectId, await contactOf(id), tree, today);
      expect([id, holds]).toEqual([id, matches.has(id)]);
      expect(decisions.some(({ outcome }) => outcome === 'stop')).toBe(!holds);
    }
  }
});
