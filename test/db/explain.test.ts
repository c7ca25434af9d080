import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import pLimit from 'p-limit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { advance } from '../../src/automations/runtime/advance.ts';
import { loadExpansion } from '../../src/campaigns/audience/expansion.ts';
import { expandFrom } from '../../src/campaigns/audience/freeze.ts';
import { openSend } from '../../src/campaigns/state.ts';
import { conditionQuery } from '../../src/contacts/conditions.ts';
import { explainCampaign } from '../../src/insight/explain/campaign.ts';
import { traceCondition } from '../../src/insight/explain/condition.ts';
import { contactFacts, findCampaign } from '../../src/insight/explain/queries.ts';
import { explainWorkflow } from '../../src/insight/explain/workflow.ts';
import { launchGate } from '../../src/launches/gate.ts';
import { storedDefinition } from '../../src/segments/definition.ts';
import { recordingEvents } from '../../src/store/record-events.ts';
import { sql } from '../../src/store/sql.ts';
import {
  type AutomationSpec,
  advanceDeps,
  anAutomation,
  aTemplate,
  enrolPending,
  switchAutomation,
  type TestAutomation,
} from '../support/automation-fixtures.ts';
import { aCampaign } from '../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { inFull } from '../support/long.ts';
import { aSubject, now } from './conditions-population.ts';
import { insertPopulation, insertProject, insertSegments, type Row } from './conditions-rows.ts';
import { aTree, leaf } from './conditions-trees.ts';

const people = inFull(2_000, 120);
const campaigns = inFull(12, 6);
// Everybody is asked about so many of the campaigns, in turn.
const asksEach = inFull(1, 2);

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

const project = () => ({ id: projectId, sender: 'hello@fernpost.test' }) as never;

async function contactOf(id: string) {
  const contact = await contactFacts(database.db, projectId, id);
  if (contact === null) throw new Error('The contact is gone');
  return contact;
}

/** What the ledger may hold of somebody in the end, and what an explanation must make of it. */
const fates: [changes: string, verdict: string][] = [
  [`status = 'PENDING'`, 'will'],
  [`status = 'SENT', sent_at = now()`, 'sent'],
  [`status = 'DELIVERED', sent_at = now(), delivered_at = now()`, 'received'],
  [`status = 'BOUNCED', sent_at = now(), bounced_at = now()`, 'did_not'],
  [`status = 'FAILED', reason = '{"code": "not_rendered", "words": "line 3"}'`, 'did_not'],
  [`status = 'FAILED', reason = '{"code": "unsubscribed"}'`, 'did_not'],
  [`status = 'FAILED', reason = '{"code": "submission_unknown"}'`, 'cannot_tell'],
  // The evidence is gone.
  [`status = 'FAILED', reason = null`, 'cannot_tell'],
];

/** A campaign that has begun and has its ledger, in which everybody of `fates` has met theirs. Answers what became of whom. */
async function frozenCampaign(tree: unknown): Promise<{ id: string; verdicts: Map<string, string> }> {
  const { db } = database;
  const type = fc.sample(fc.constantFrom('MARKETING' as const, 'TRANSACTIONAL' as const), 1)[0] ?? 'MARKETING';
  const id = await aCampaign(db, project(), { audienceType: 'FILTERED', audienceCondition: tree as object, type });
  await openSend(db, id, people, null);
  // The population lives around this instant: some contacts came later.
  await db.count(sql`update campaigns set sent_at = ${now} where id = ${id}`);
  const send = await loadExpansion(db, id, 1);
  if (send === null) throw new Error('The send is gone');
  const deps = {
    db,
    billing: { freeTier: null, publicDailyEmails: null },
    clock: () => now,
    launchGate,
    cursors: pLimit(1),
  };
  await expandFrom(deps, send, () => undefined);
  const mailed = await db.rows<{ id: string; contact: string }>(
    sql`select id, contact_id as contact from emails where campaign_id = ${id} order by contact_id`,
  );
  const verdicts = new Map<string, string>();
  for (const [place, [changes, verdict]] of fates.entries()) {
    const these = mailed.filter((_, n) => n % fates.length === place);
    await db.count(`update emails set ${changes} where id = any ($1::uuid[])`, [these.map((mail) => mail.id)]);
    for (const mail of these) verdicts.set(mail.contact, verdict);
  }
  return { id, verdicts };
}

test('an explanation says of everybody what the ledger says, and always why not', async () => {
  const { db } = database;
  const seen = new Map<string, number>();
  const frozen: Awaited<ReturnType<typeof frozenCampaign>>[] = [];
  for (const tree of fc.sample(aTree(rows, segmentIds), campaigns)) frozen.push(await frozenCampaign(tree));
  // Generated conditions may have too few people for every fate.
  const everybody = await frozenCampaign(
    leaf({ field: 'email', operator: 'notEquals', value: 'nobody@fernpost.test' }),
  );
  for (const [place, { id: contactId }] of rows.entries()) {
    const inTurn = Array.from({ length: asksEach }, (_, ask) => frozen[(place + ask) % frozen.length]);
    for (const chosen of place < 120 ? [...inTurn, everybody] : inTurn) {
      const campaign = chosen && (await findCampaign(db, projectId, chosen.id));
      if (!chosen || !campaign) throw new Error('The campaign is gone');
      const contact = await contactOf(contactId);
      const { verdict, sentence, decisions } = await explainCampaign(db, projectId, contact, campaign, 90);
      const expected = chosen.verdicts.get(contactId) ?? 'left out';
      expect([contactId, verdict]).toEqual([contactId, expected === 'left out' ? 'did_not' : expected]);
      expect(sentence).not.toBe('');
      if (verdict === 'did_not') expect(decisions.some(({ outcome }) => outcome === 'stop')).toBe(true);
      seen.set(expected, (seen.get(expected) ?? 0) + 1);
    }
  }
  expect([...seen.keys()].sort()).toEqual(['cannot_tell', 'did_not', 'left out', 'received', 'sent', 'will']);
});

test('the filters of a trace come together to what the whole condition answers', async () => {
  const { db } = database;
  const today = new Date();
  const asked = rows.slice(0, 30);
  for (const tree of fc.sample(aTree(rows, segmentIds), inFull(40, 20))) {
    const { condition, segments } = await storedDefinition(db, projectId, tree);
    const whole = conditionQuery(condition, { projectId, now: today, segments, asOf: today });
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

/** What happens to somebody, and what an explanation must say where the runs do not say it. */
const stories = [
  'nothing',
  'another event',
  'enters',
  'twice',
  'twice, forgotten',
  'pending',
  'while disabled',
] as const;
type Story = (typeof stories)[number];

// What follows the trigger: any order of steps, with a way out of each condition that skips the rest.
const aGraph = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.constant('mail' as const) },
    { weight: 2, arbitrary: fc.constant('check' as const) },
    { weight: 1, arbitrary: fc.constant('delay' as const) },
    { weight: 1, arbitrary: fc.constant('wait' as const) },
    { weight: 1, arbitrary: fc.constant('broken' as const) },
  ),
  { minLength: 1, maxLength: 5 },
);

async function aGeneratedWorkflow(
  kinds: readonly string[],
  event: string,
  templateId: string,
): Promise<TestAutomation> {
  const plans = [fc.sample(fc.constantFrom('free', 'pro'), 1)[0], 'pro'];
  const configs: Record<string, [string, object]> = {
    mail: ['SEND_EMAIL', { templateId }],
    check: ['CONDITION', { field: 'contact.data.plan', operator: 'equals', value: plans[0] }],
    delay: ['DELAY', { amount: 2, unit: 'days' }],
    wait: ['WAIT_FOR_EVENT', { eventName: 'purchase', timeout: 86_400 }],
    broken: ['SEND_EMAIL', {}],
  };
  const names = kinds.map((kind, place) => `${kind} ${place}`);
  const steps = Object.fromEntries(kinds.map((kind, place) => [names[place], configs[kind]]));
  const ways: [string, string][] = [];
  for (const [place, name] of ['trigger', ...names].entries()) {
    const next = names[place] ?? 'out';
    if (name.startsWith('check')) ways.push([`${name}.yes`, next], [`${name}.no`, 'out']);
    else if (name.startsWith('wait')) ways.push([`${name}.EVENT`, next], [`${name}.TIMEOUT`, 'out']);
    else ways.push([name, next]);
  }
  const spec = { event, steps: { ...steps, out: ['EXIT', {}] }, ways, allowReentry: true } as unknown as AutomationSpec;
  return anAutomation(database.db, projectId, spec);
}

const workflows = inFull(10, 5);
const perWorkflow = inFull(200, 14);

test('an explanation says of everybody what the runs and their mail say, and only without evidence that it cannot tell', async () => {
  const { db } = database;
  const templateId = await aTemplate(db, project());
  const seen = new Map<string, number>();
  for (const [place, kinds] of fc.sample(aGraph, workflows).entries()) {
    const event = `began ${place}`;
    const workflow = await aGeneratedWorkflow(kinds, event, templateId);
    const own = Array.from({ length: perWorkflow }, (_, n) => rows[(place * perWorkflow + n) % rows.length]?.id ?? '');
    const told = new Map(own.map((id, n): [string, Story] => [id, stories[n % stories.length] ?? 'nothing']));
    await live(workflow, event, told);
    for (const [contactId, story] of told) {
      const { verdict, sentence } = await explainWorkflow(
        db,
        projectId,
        await contactOf(contactId),
        workflow.id,
        new Date().toISOString(),
      );
      expect([kinds, contactId, story, verdict]).toEqual([
        kinds,
        contactId,
        story,
        await verdictOf(workflow, contactId, story),
      ]);
      expect(sentence).not.toBe('');
      seen.set(`${story}: ${verdict}`, (seen.get(`${story}: ${verdict}`) ?? 0) + 1);
    }
  }
  expect([...seen.keys()]).toEqual(
    expect.arrayContaining([
      'nothing: did_not',
      'pending: will',
      'while disabled: did_not',
      'twice, forgotten: cannot_tell',
    ]),
  );
});

/** Lets everybody live their story in a workflow: the contacts that enter go as far as its steps take them at once. */
async function live({ id }: TestAutomation, event: string, told: ReadonlyMap<string, Story>): Promise<void> {
  const { db } = database;
  const who = (...wanted: Story[]) =>
    [...told].filter(([, story]) => wanted.includes(story)).map(([contact]) => contact);
  const happens = (name: string, contacts: readonly string[]) =>
    db.count(
      recordingEvents({
        events: [{ projectId, contactId: sql`id`, name, from: sql`unnest(${contacts}::uuid[]) as id` }],
      }),
    );
  await happens(`${event}!`, who('another event'));
  await happens(event, who('enters', 'twice', 'twice, forgotten'));
  await enrolPending(database.db);
  await advanceAll(id);
  await db.count(sql`
    update automation_runs set status = 'COMPLETED', completed_at = now()
    where automation_id = ${id} and contact_id = any (${who('twice', 'twice, forgotten')}::uuid[])`);
  await happens(event, who('twice', 'twice, forgotten'));
  // The guard against loops: nobody enters twice within an hour.
  await enrolPending(database.db, 1);
  await db.count(sql`
    update automation_entries set refused_at = null, refused_reason = null, refused_event_id = null
    where automation_id = ${id} and contact_id = any (${who('twice, forgotten')}::uuid[])`);
  await switchAutomation(db, id, false);
  await happens(event, who('while disabled'));
  await switchAutomation(db, id, true);
  await happens(event, who('pending'));
  const mailed = await db.rows<{ id: string }>(sql`
    select e.id from emails e join automation_step_runs x on x.id = e.workflow_step_execution_id
      join automation_runs r on r.id = x.run_id where r.automation_id = ${id} order by e.id`);
  for (const [place, [changes]] of fates.entries()) {
    const these = mailed.filter((_, n) => n % fates.length === place).map((mail) => mail.id);
    if (changes !== `status = 'PENDING'`)
      await db.count('delete from email_queue where email_id = any ($1::uuid[])', [these]);
    await db.count(`update emails set ${changes} where id = any ($1::uuid[])`, [these]);
  }
}

async function advanceAll(automationId: string): Promise<void> {
  const deps = advanceDeps(database.db);
  const running = () =>
    database.db.rows<{ id: string; seq: number }>(
      sql`select id, seq from automation_runs where automation_id = ${automationId} and status = 'RUNNING'`,
    );
  for (let runs = await running(); runs.length > 0; runs = await running())
    for (const { id, seq } of runs) await advance(deps, id, seq);
}

/** What must be said by the rows alone: the mail of the last step that sent one, else how the run stands, else the story. */
async function verdictOf({ id }: TestAutomation, contactId: string, story: Story): Promise<string> {
  if (story === 'pending') return 'will';
  if (story === 'twice, forgotten') return 'cannot_tell';
  if (story !== 'enters') return 'did_not';
  const run = await database.db.row<{ status: string; mail: string | null; reason: { code: string } | null }>(sql`
    select r.status, m.status as mail, m.reason from automation_runs r
      left join automation_step_runs x on x.run_id = r.id
      left join emails m on m.workflow_step_execution_id = x.id
    where r.automation_id = ${id} and r.contact_id = ${contactId} order by (m.id is not null) desc, x.seq desc limit 1`);
  if (run === null) throw new Error('The contact did not enter');
  const { status, mail, reason } = run;
  if (mail === null) return status === 'WAITING' ? 'will' : 'did_not';
  if (mail === 'FAILED') return reason === null || reason.code === 'submission_unknown' ? 'cannot_tell' : 'did_not';
  const said: Record<string, string> = { PENDING: 'will', SENT: 'sent', DELIVERED: 'received', BOUNCED: 'did_not' };
  return said[mail] ?? mail;
}
