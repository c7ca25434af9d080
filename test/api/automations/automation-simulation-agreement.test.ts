import { afterAll, beforeAll, expect, test } from 'vitest';
import { stepTypes } from '../../../src/automations/graph/step-configs.ts';
import { advance, Turns } from '../../../src/automations/runtime/advance.ts';
import { simulateSome } from '../../../src/automations/simulation/job.ts';
import { changeContacts } from '../../../src/imports/bulk.ts';
import { sql } from '../../../src/store/sql.ts';
import { aProject, type TestApi, testApi } from '../../support/api.ts';
import {
  type AutomationSpec,
  advanceDeps,
  anAutomation,
  anEvent,
  enrolPending,
  letIn,
} from '../../support/automation-fixtures.ts';
import { type AutomationHand, automationHand } from '../../support/automations.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { testSimulations } from '../../support/jobs.ts';
import { inFull } from '../../support/long.ts';
import { type MovedClock, movedClock } from '../../support/moved-clock.ts';
import { type Choose, chooser, randomGraph } from '../../support/random-graphs.ts';

// Executions are made by the code that runs them, over days of a clock that is moved; a simulation has to repeat them by what it finds in the rows.
const graphs = inFull(5_000, 60);
const seed = Number(process.env.TEST_SEED ?? 20_261_129);

let database: TestDatabase;
let clock: MovedClock;
let api: TestApi;
let hand: AutomationHand;
let projectId: string;
let template: string;

beforeAll(async () => {
  database = await testDatabase();
  clock = await movedClock(database);
  api = await testApi(database);
  const owner = await aProject(database);
  projectId = owner.id;
  hand = automationHand(api, owner);
  template = await hand.template();
});
afterAll(async () => {
  await api.close();
  clock[Symbol.dispose]();
  await database.close();
});

const later = (seconds: number) => clock.set(new Date(Date.now() + seconds * 1_000));
const share = () => ({ stop: new AbortController().signal, longestMs: 600_000, onStep() {} });

async function simulated(id: string, body: object) {
  const { jobId } = await hand.done('POST', `/workflows/${id}/simulations`, body);
  await changeContacts(database.db, jobId, share(), null, (db, job, from) =>
    simulateSome(db, testSimulations, job, from),
  );
  const { state, result, failedReason } = await hand.done('GET', `/workflows/${id}/simulations/${jobId}`);
  expect([state, failedReason]).toEqual(['completed', null]);
  return { jobId, result };
}

/** Moves a run on until it ends or waits for ever; meanwhile events happen and others change the contact. Returns whether it has ended. */
async function run(choose: Choose, runId: string, contactId: string): Promise<boolean> {
  const { db } = database;
  let idle = 0;
  for (let directive = await advance(advanceDeps(db), runId, 0); directive.next !== 'done'; ) {
    const { next, seq } = directive;
    await later(choose([2, 5]));
    if (next === 'http') {
      const answer = choose([{ statusCode: 200, success: true }, { statusCode: 500, success: false }, null]);
      await db.count(
        `update automation_step_runs set output = $2::jsonb, error = case when $2::jsonb is null then 'no answer' end where id = $1`,
        [directive.stepRunId, answer && JSON.stringify(answer)],
      );
    } else if (next !== 'goOn') {
      const what = choose(['nothing', 'nothing', 'order', 'visit', 'data', 'date'] as const);
      const ends = new Date(Date.now() + choose([-3, 3, 30]) * 3_600_000).toISOString();
      const total = choose([5, 80]);
      if (what === 'order' || what === 'visit')
        await anEvent(db, projectId, contactId, what, choose([{ total }, {}, null]));
      else if (what === 'data')
        await hand.done('PATCH', `/contacts/${contactId}`, {
          data: choose<object>([{ plan: 'pro' }, { score: 60 }, { plan: null }]),
        });
      else if (what === 'date') await hand.done('PATCH', `/contacts/${contactId}`, { data: { ends } });
      await later(choose([2, 5]));
      const until = directive.until === null ? null : Date.parse(directive.until);
      if (what === 'nothing' && until === null) idle += 1;
      if (idle > 4) return false;
      if (what === 'nothing' && until !== null) await clock.set(new Date(until + choose([2, 600]) * 1_000));
    }
    directive = await advance(advanceDeps(db), runId, seq);
  }
  return true;
}

test(`a simulation repeats the executions of ${graphs} random graphs, step by step at the same instants`, {
  timeout: graphs * 20_000,
}, async () => {
  const { db } = database;
  const met = new Map<string, number>();
  const count = (what: string, by = 1) => met.set(what, (met.get(what) ?? 0) + by);
  for (let n = 0; n < graphs; n += 1) {
    const choose = chooser(seed + n * 7_919);
    const spec = randomGraph(choose, template);
    const automation = await anAutomation(db, projectId, spec);
    const known = { plan: choose(['pro', 'free', undefined]), score: choose([10, 60, undefined]) };
    const ends = choose([new Date(Date.now() + 86_400_000).toISOString(), '2022-12-24T10:00:00Z', 'soon', undefined]);
    const contactId = await hand.contact(`${n}-${projectId}@example.com`, { ...known, ends });
    await later(3);
    const context = choose([null, { total: 80 }, { total: 5 }]);
    const isByEvent = choose([true, true, false]);
    if (isByEvent) {
      await anEvent(db, projectId, contactId, 'user.signup', context);
      await enrolPending(db);
    } else await letIn(db, automation, [contactId], context);
    const row = await db.row<{ id: string }>(
      sql`select id from automation_runs where automation_id = ${automation.id}`,
    );
    const hasEnded = await run(choose, row?.id ?? '', contactId);
    await later(60);
    const { result } = await simulated(automation.id, { over: { contactIds: [contactId] }, compareWith: 'actual' });
    const { agreement, counts } = result.comparison ?? {};
    const told = JSON.stringify({ n, spec, known, ends, context, agreement, steps: automation.steps });
    expect(result.contacts, told).toBe(hasEnded ? 1 : 0);
    if (!hasEnded) {
      count('stays');
      continue;
    }
    const unfit = agreement.notComparable['data of its start not kept'] ?? 0;
    expect({ n, ...agreement }, told).toEqual({
      ...{ n, agree: 1 - unfit, compared: 1 - unfit, differences: [] },
      notComparable: unfit === 0 ? {} : { 'data of its start not kept': 1 },
    });
    if (isByEvent) expect(unfit, told).toBe(0);
    if (unfit > 0) continue;
    count('agree');
    // The counts of both sides are those of one and the same execution.
    const {
      comparison: _,
      unknown: _unknown,
      contacts: _contacts,
      more: _more,
      gone: _gone,
      goal: _goal,
      ...here
    } = result;
    const { goal: _there, collisions: _collisions, ...there } = counts;
    expect(here, told).toMatchObject(there);
    for (const [end, times] of Object.entries(result.ends)) count(end, Number(times));
    for (const { type, reached, paths } of result.steps) {
      count(type, reached);
      for (const path of Object.keys(paths)) count(path);
    }
  }
  for (const what of [
    ...['agree', 'stays', 'COMPLETED', 'EXITED', 'FAILED', 'EVENT', 'TIMEOUT', 'yes', 'no', 'exit:bought'],
    ...[
      'CONDITION',
      'SPLIT',
      'DELAY',
      'WAIT_FOR_EVENT',
      'WAIT_UNTIL',
      'UPDATE_CONTACT',
      'SEND_EMAIL',
      'WEBHOOK',
      'EXIT',
    ],
  ])
    expect([what, met.get(what) ?? 0]).toEqual([what, expect.toSatisfy((times: number) => times > 0)]);
});

const pro = { logic: 'AND', groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }] };
const everyStep = (): AutomationSpec => ({
  steps: {
    hour: ['DELAY', { amount: 1, unit: 'hours' }],
    check: ['CONDITION', { mode: 'tree', condition: pro }],
    split: [
      'SPLIT',
      {
        branches: [
          { id: 'a', percent: 100 },
          { id: 'b', percent: 0 },
        ],
      },
    ],
    mail: ['SEND_EMAIL', { templateId: template }],
    wait: ['WAIT_FOR_EVENT', { eventName: 'order', timeout: 86_400 }],
    date: ['WAIT_UNTIL', { field: 'data.ends', passed: 'continue', offset: '2h' }],
    change: ['UPDATE_CONTACT', { updates: { score: 90 } }],
    call: ['WEBHOOK', { url: 'https://crm.example.com/{{ plan }}' }],
    exit: ['EXIT', { reason: 'enough' }],
  },
  ways: [
    ...[
      ['trigger', 'hour'],
      ['hour', 'check'],
      ['check.yes', 'split'],
      ['split.a', 'mail'],
      ['mail', 'wait'],
    ],
    ...[
      ['wait.EVENT', 'date'],
      ['date', 'change'],
      ['change', 'call'],
      ['call', 'exit'],
    ],
  ] as [string, string][],
});

/** A finished execution of a graph with a step of every type. */
async function finished(email: string) {
  const { db } = database;
  const automation = await anAutomation(db, projectId, everyStep());
  const ends = new Date(Date.now() + 36 * 3_600_000).toISOString();
  const contactId = await hand.contact(email, { plan: 'pro', ends });
  await later(5);
  await anEvent(db, projectId, contactId, 'user.signup', { total: 80 });
  await enrolPending(db);
  const row = await db.row<{ id: string }>(sql`select id from automation_runs where automation_id = ${automation.id}`);
  const runId = row?.id ?? '';
  for (let directive = await advance(advanceDeps(db), runId, 0); directive.next !== 'done'; ) {
    if (directive.next === 'wait') {
      await later(5);
      await anEvent(db, projectId, contactId, 'order', { total: 5 });
    }
    if (directive.next === 'http')
      await db.count(`update automation_step_runs set output = '{"statusCode": 200, "success": true}' where id = $1`, [
        directive.stepRunId,
      ]);
    await (directive.next === 'sleep' ? clock.set(new Date(Date.parse(directive.until) + 5_000)) : later(5));
    directive = await advance(advanceDeps(db), runId, directive.seq);
  }
  await later(60);
  return { automation, contactId, runId };
}

test('a mutation of any one step shows as a difference at that step', { timeout: 300_000 }, async () => {
  const { db } = database;
  const { automation, contactId, runId } = await finished('mutated@example.com');
  const asked = { over: { contactIds: [contactId] }, compareWith: 'actual' };
  const agreementOf = async () => (await simulated(automation.id, asked)).result.comparison.agreement;
  expect(await agreementOf()).toEqual({ agree: 1, compared: 1, notComparable: {}, differences: [] });
  const steps = await db.rows<{ id: string; step: string; type: string }>(
    'select id, step_id as step, step_type as type from automation_step_runs where run_id = $1 order by seq',
    [runId],
  );
  expect(steps.map(({ type }) => type).sort()).toEqual([...stepTypes].sort());
  const mutations: Record<string, [string, string]> = {
    TRIGGER: [`output = output || '{"eventName": "other"}'`, 'output'],
    DELAY: [`scheduled_for = scheduled_for - interval '1 minute'`, 'scheduledFor'],
    CONDITION: [`output = output || '{"branch": "no", "result": false}'`, 'output'],
    SPLIT: [`output = output || '{"branch": "b"}'`, 'output'],
    SEND_EMAIL: [`output = output || '{"skipped": "unsubscribed"}'`, 'output'],
    WAIT_FOR_EVENT: [`outcome = 'TIMEOUT'`, 'outcome'],
    WAIT_UNTIL: [`scheduled_for = scheduled_for + interval '1 minute'`, 'scheduledFor'],
    UPDATE_CONTACT: [`output = jsonb_set(output, '{newData,score}', '1')`, 'output'],
    WEBHOOK: [`input = input || '{"retries": 3}'`, 'input'],
    EXIT: [`output = output || '{"reason": "other"}'`, 'output'],
  };
  for (const { id, step, type } of steps) {
    const [mutation, field] = mutations[type] ?? ['', ''];
    await db.count('create table kept as select * from automation_step_runs where id = $1', [id]);
    await db.count(`update automation_step_runs set ${mutation} where id = $1`, [id]);
    const { agree, differences } = await agreementOf();
    expect([type, agree]).toEqual([type, 0]);
    expect(differences).toEqual([
      { contactId, executionId: runId, stepId: step, differs: expect.arrayContaining([field]) },
    ]);
    await db.count(
      `update automation_step_runs s set output = k.output, input = k.input, outcome = k.outcome, scheduled_for = k.scheduled_for from kept k where k.id = s.id`,
    );
    await db.count('drop table kept');
  }
  // So does one of what the steps went by: an event that nobody saw, and the contact as of then.
  const moved = await anEvent(db, projectId, contactId, 'order', { total: 5 });
  expect(await agreementOf()).toMatchObject({ agree: 1 });
  await db.count(
    `update events set created_at = (select started_at + interval '2 seconds' from automation_step_runs where run_id = $1 and step_type = 'WAIT_FOR_EVENT')
     where id = $2`,
    [runId, moved],
  );
  expect((await agreementOf()).agree).toBe(0);
  await db.count('delete from events where id = $1', [moved]);
  expect((await agreementOf()).agree).toBe(1);
  await db.count(`update contacts set data = data || '{"plan": "free"}' where id = $1`, [contactId]);
  expect(await agreementOf()).toMatchObject({ agree: 0, differences: [{ stepId: automation.steps.check }] });
});

test('an execution that continued in its turn, after the instant that others waited for too, agrees, and so does its email', {
  timeout: 300_000,
}, async () => {
  const { db } = database;
  const steps: AutomationSpec['steps'] = {
    date: ['WAIT_UNTIL', { field: 'data.ends' }],
    mail: ['SEND_EMAIL', { templateId: template }],
    exit: ['EXIT', { reason: 'enough' }],
  };
  const automation = await anAutomation(db, projectId, { steps });
  const instant = Date.now() + 3_600_000;
  const ends = new Date(instant).toISOString();
  const contactIds = [
    await hand.contact('first@turns.example.com', { ends }),
    await hand.contact('second@turns.example.com', { ends }),
  ];
  await later(3);
  // A turn every 100 seconds: longer than emails may be apart and count as the same.
  const deps = { ...advanceDeps(db), turns: new Turns(0.01) };
  const runs = await letIn(db, automation, contactIds);
  const directives = [];
  for (const { id } of runs) directives.push(await advance(deps, id, 0));
  expect(directives).toMatchObject([{ until: ends }, { until: new Date(instant + 100_000).toISOString() }]);
  await clock.set(new Date(instant + 2_000));
  expect(await advance(deps, runs[0]?.id ?? '', 2)).toMatchObject({ next: 'done' });
  // In between a change wakes the second one, which waits on.
  await hand.done('PATCH', `/contacts/${contactIds[1]}`, { data: { timezone: 'Asia/Tokyo' } });
  expect(await advance(deps, runs[1]?.id ?? '', 2)).toMatchObject({ next: 'sleep' });
  await clock.set(new Date(instant + 102_000));
  expect(await advance(deps, runs[1]?.id ?? '', 2)).toMatchObject({ next: 'done' });
  await later(60);
  const asked = { over: { contactIds }, compareWith: 'actual' };
  const { comparison } = (await simulated(automation.id, asked)).result;
  expect(comparison.agreement).toEqual({ agree: 2, compared: 2, notComparable: {}, differences: [] });
  const { comparison: other } = (await simulated(automation.id, { ...asked, version: 1 })).result;
  expect(other.mails).toEqual([{ templateId: template, same: 2, onlyHere: 0, onlyThere: 0, earlier: 0, later: 0 }]);
});
