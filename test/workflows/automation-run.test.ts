import { defaultPayloadConverter } from '@temporalio/common';
import proto from '@temporalio/proto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startRuns } from '../../src/automations/enrollment/starting.ts';
import { pauseAutomation, resumeAutomation } from '../../src/automations/list-service.ts';
import { cancelByOperator, retryExecutions } from '../../src/automations/runs/actions.ts';
import { countPaths } from '../../src/automations/runs/queries.ts';
import { advance } from '../../src/automations/runtime/advance.ts';
import { createOrphanCheck, recoverableRuns, recoverableWaits } from '../../src/automations/runtime/recovery.ts';
import { ensureVersion } from '../../src/automations/versions.ts';
import { writeContacts, writingAs } from '../../src/contacts/write.ts';
import { contactFacts } from '../../src/insight/explain/queries.ts';
import { explainWorkflow } from '../../src/insight/explain/workflow.ts';
import { newId } from '../../src/lib/ids.ts';
import { isOpen } from '../../src/store/outbox/calls.ts';
import { enqueueAll, type OutboxTicket } from '../../src/store/outbox/queries.ts';
import { createRecovery, type RecoverableKind } from '../../src/store/outbox/recovery.ts';
import { openAutomations } from '../../src/store/outbox/wake.ts';
import { queries, searchAttribute, workflowId } from '../../temporal/commands.ts';
import { audience } from '../support/audience.ts';
import {
  advanceDeps,
  anAutomation,
  anEvent,
  aTemplate,
  automationRuntime,
  runOf,
  runsOf,
  type TestAutomation,
  type TestRuntime,
} from '../support/automation-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aContact, aProject, type TestProject } from '../support/delivery-fixtures.ts';
import { startReceiver } from '../support/receiver.ts';

const people = audience();
let database: TestDatabase;
let project: TestProject;
let runtime: TestRuntime;
let next = 0;

beforeAll(async () => {
  database = await testDatabase();
  project = await aProject(database.db);
  runtime = await automationRuntime(database, { allowedHosts: ['127.0.0.1'], startsPerHour: 5 });
});
afterAll(async () => {
  await runtime[Symbol.asyncDispose]();
  await database.close();
});

async function somebody(data: object = {}): Promise<string> {
  const person = people[next++];
  if (person === undefined) throw new Error('Nobody is left');
  return aContact(database.db, project.id, person.email, { data: { ...person.data, ...data } });
}
const wishOf = (contactId: string, context: Record<string, unknown> | null = null) => ({
  contactId,
  context,
  sourceEventId: null,
});
async function enter(automation: TestAutomation, contactId: string, context: Record<string, unknown> | null = null) {
  const { outcomes, tickets } = await database.db.transaction(async (sql) => {
    const { outcomes, starts } = await startRuns(sql, project.id, automation.id, [wishOf(contactId, context)], 0);
    return { outcomes, tickets: await enqueueAll(sql, starts) };
  });
  runtime.outbox.dispatchSoon(...tickets);
  return outcomes[0]?.outcome;
}
const execution = (automation: TestAutomation, contactId: string, entry = 1) =>
  runtime.worker.client.workflow.getHandle(workflowId.automation(automation.id, contactId, entry));
const isUpsert = (event: proto.temporal.api.history.v1.IHistoryEvent) =>
  event.upsertWorkflowSearchAttributesEventAttributes !== null;
const status = async (automation: TestAutomation) =>
  (await runsOf(database.db, automation.id)).map((run) => run.status);
// What Temporal shows follows a moment later, on a loaded machine some moments.
const until = (automation: TestAutomation, expected: string) =>
  expect.poll(async () => [...new Set(await status(automation))], { interval: 20 }).toEqual([expected]);

describe('an execution', () => {
  test('goes through every type of step, and its result says how it ended', async () => {
    await using receiver = await startReceiver((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"score":7}');
    });
    const template = await aTemplate(database.db, project, { type: 'TRANSACTIONAL' });
    const automation = await anAutomation(database.db, project.id, {
      steps: {
        mail: ['SEND_EMAIL', { templateId: template }],
        until: ['WAIT_UNTIL', { field: 'data.ends' }],
        delay: ['DELAY', { amount: 0.002, unit: 'minutes' }],
        wait: ['WAIT_FOR_EVENT', { eventName: 'order.paid', timeout: 60 }],
        check: ['CONDITION', { field: 'event.total', operator: 'greaterThan', value: 500 }],
        hook: ['WEBHOOK', { url: `http://127.0.0.1:${receiver.port}/{{event.total}}`, body: { who: '{{email}}' } }],
        update: ['UPDATE_CONTACT', { updates: { stage: 'activated' } }],
        out: ['EXIT', { reason: 'converted' }],
      },
      ways: [
        ['trigger', 'mail'],
        ['mail', 'until'],
        ['until', 'delay'],
        ['delay', 'wait'],
        ['wait', 'check'],
        ['check.yes', 'hook'],
        ['hook', 'update'],
        ['update', 'out'],
      ],
    });
    const contact = await somebody({ ends: '9999-12-31' });
    await enter(automation, contact);
    await expect.poll(async () => (await runOf(database.db, automation.id)).at).toBe('until');
    const moved = { id: contact, set: { ends: '2020-01-01' } };
    await writeContacts(database.db, project.id, [moved], writingAs(database.db, 'contact'));
    await expect.poll(async () => (await runOf(database.db, automation.id)).at).toBe('wait');
    await anEvent(database.db, project.id, contact, 'order.paid', { total: 620 });
    expect(await execution(automation, contact).result()).toMatchObject({ status: 'EXITED', reason: 'converted' });
    const run = await runOf(database.db, automation.id);
    expect(run.steps.map((step) => [step.name, step.status])).toEqual(
      ['trigger', 'mail', 'until', 'delay', 'wait', 'check', 'hook', 'update', 'out'].map((name) => [
        name,
        'COMPLETED',
      ]),
    );
    expect(receiver.requests).toHaveLength(1);
    expect(receiver.requests[0]).toMatchObject({ method: 'POST', url: '/620' });
    expect(run.steps[6]?.output).toMatchObject({ statusCode: 200, success: true, response: { score: 7 } });
  });

  test('can be watched: query, search attributes, memo and summary say where it is', async () => {
    const automation = await anAutomation(database.db, project.id, {
      name: 'Winback',
      steps: { wait: ['WAIT_FOR_EVENT', { eventName: 'order.paid', timeout: 3600 }] },
    });
    const contact = await somebody();
    await enter(automation, contact);
    await until(automation, 'WAITING');
    const handle = execution(automation, contact);
    const [run] = await runsOf(database.db, automation.id);
    await expect
      .poll(async () => ((await handle.query(queries.where)) as { waitingFor: string }).waitingFor)
      .toBe('order.paid');
    expect(await handle.query(queries.where)).toMatchObject({
      status: 'WAITING',
      step: { id: automation.steps.wait, type: 'WAIT_FOR_EVENT', name: 'wait' },
    });
    const description = await handle.describe();
    const attributes = Object.fromEntries(
      description.typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]),
    );
    expect(attributes).toMatchObject({
      ProjectId: project.id,
      AutomationId: automation.id,
      ContactId: contact,
      ExecutionId: run?.id,
      State: 'WAITING',
      WaitingFor: 'order.paid',
    });
    expect(attributes.DueAt).toBeInstanceOf(Date);
    expect(description.memo).toMatchObject({ automation: 'Winback', entry: 1 });
    expect(JSON.stringify(description.memo)).not.toContain('@');
    // The start says it, so that no task has to.
    expect((await handle.fetchHistory()).events?.filter(isUpsert)).toEqual([]);
    await anEvent(database.db, project.id, contact, 'order.paid');
    await handle.result();
    const { events } = await handle.fetchHistory();
    expect(events?.filter(isUpsert)).toHaveLength(1);
    const summaries = (events ?? []).flatMap(({ userMetadata, eventType }) => {
      const [text] = userMetadata?.summary ? [defaultPayloadConverter.fromPayload<string>(userMetadata.summary)] : [];
      return text === undefined ? [] : [`${proto.temporal.api.enums.v1.EventType[eventType ?? 0]}: ${text}`];
    });
    expect(summaries).toEqual([
      'EVENT_TYPE_WORKFLOW_EXECUTION_STARTED: Automation "Winback"',
      'EVENT_TYPE_MARKER_RECORDED: go on where the row stands',
      `EVENT_TYPE_TIMER_STARTED: wait for order.paid · "wait" (${automation.steps.wait})`,
      `EVENT_TYPE_TIMER_CANCELED: wait for order.paid · "wait" (${automation.steps.wait})`,
      'EVENT_TYPE_MARKER_RECORDED: go on after "wait"',
    ]);
  });

  test('waits for something else than its graph begins with, and shows that', async () => {
    const automation = await anAutomation(database.db, project.id, {
      steps: { delay: ['DELAY', { amount: 2, unit: 'days' }] },
    });
    const contact = await somebody();
    const tickets = await database.db.transaction(async (tx) => {
      const { starts } = await startRuns(tx, project.id, automation.id, [wishOf(contact)], 0);
      await pauseAutomation(tx, project.id, automation.id);
      return enqueueAll(tx, starts);
    });
    runtime.outbox.dispatchSoon(...tickets);
    const shown = async () => {
      const { typedSearchAttributes } = await execution(automation, contact).describe();
      const { State, WaitingFor, DueAt } = searchAttribute;
      return [State, WaitingFor, DueAt].map((key) => typedSearchAttributes.get(key) ?? null);
    };
    await expect
      .poll(() => shown().catch(() => null), { interval: 50 })
      .toEqual(['WAITING', 'the end of the pause', null]);
  });

  test('names as long as they may be are cut in what the Web UI shows, and hold nobody up', async () => {
    const name = '長'.repeat(255);
    const automation = await anAutomation(database.db, project.id, {
      steps: { [name]: ['WAIT_FOR_EVENT', { eventName: name, timeout: 3600 }], out: ['EXIT'] },
    });
    const contact = await somebody();
    await enter(automation, contact);
    await until(automation, 'WAITING');
    await anEvent(database.db, project.id, contact, name);
    await until(automation, 'EXITED');
  });

  test('a step that fails completes the execution with what went wrong: red in the Web UI means a fault of ours', async () => {
    const automation = await anAutomation(database.db, project.id, {
      steps: { hook: ['WEBHOOK', { url: 'http://10.0.0.1/' }] },
    });
    const contact = await somebody();
    await enter(automation, contact);
    await until(automation, 'FAILED');
    const result = await execution(automation, contact).result();
    expect(result).toMatchObject({ status: 'FAILED', stepId: automation.steps.hook });
    expect(await runOf(database.db, automation.id)).toMatchObject({ status: 'FAILED', reason: result.reason });
    expect((await execution(automation, contact).describe()).status.name).toBe('COMPLETED');
  });

  test('one that failed goes on with the step that failed, in the version that has it mended', async () => {
    let isMended = false;
    await using receiver = await startReceiver((_, response) => void response.writeHead(isMended ? 200 : 500).end());
    const automation = await anAutomation(database.db, project.id, {
      steps: { hook: ['WEBHOOK', { url: `http://127.0.0.1:${receiver.port}/`, failOnError: true }], out: ['EXIT'] },
    });
    const contact = await somebody();
    await enter(automation, contact);
    await until(automation, 'FAILED');
    // The run has failed a moment before its execution ends, which a retry then waits for.
    await execution(automation, contact).result();
    isMended = true;
    const [failed] = await runsOf(database.db, automation.id);
    await database.db.count(
      `update automation_steps set config = config || '{"retries": 1}' where automation_id = $1`,
      [automation.id],
    );
    await database.db.count('update automations set graph_dirty = true where id = $1', [automation.id]);
    const retry = () => retryExecutions(database.db, project.id, automation.id, {});
    const [one, other] = await Promise.all([retry(), retry()]);
    expect(one.body.retried + other.body.retried).toBe(1);
    runtime.outbox.dispatchSoon(...one.tickets, ...other.tickets);
    await until(automation, 'EXITED');
    const { steps } = await runOf(database.db, automation.id);
    expect(steps.map(({ name, status }) => [name, status])).toEqual([
      ['trigger', 'COMPLETED'],
      ['hook', 'FAILED'],
      ['hook', 'COMPLETED'],
      ['out', 'COMPLETED'],
    ]);
    // One contact reached the step, and left it by the path of success.
    const counts = await countPaths(database.db, automation.id, null);
    const atHook = counts.filter(({ stepId, count }) => stepId === automation.steps.hook && count > 0);
    expect(atHook).toMatchObject([{ branch: 'success', count: 1 }]);
    const versions = await database.db.rows(
      'select v.version from automation_runs r join automation_versions v on v.id = r.version_id where r.id = $1',
      [failed?.id],
    );
    expect(versions).toEqual([{ version: 2 }]);
    expect(receiver.requests).toHaveLength(2);
    expect(
      (await retryExecutions(database.db, project.id, automation.id, { executionIds: [failed?.id ?? ''] })).body,
    ).toEqual({
      retried: 0,
      skipped: 1,
      more: false,
    });
  });

  test('those whose CRM was down go on together, by a preview first, and none of their mail is sent twice', async () => {
    let isMended = false;
    await using receiver = await startReceiver((_, response) => void response.writeHead(isMended ? 200 : 500).end());
    const mail = { templateId: await aTemplate(database.db, project) };
    const automation = await anAutomation(database.db, project.id, {
      steps: {
        mail: ['SEND_EMAIL', mail],
        tell: ['WEBHOOK', { url: `http://127.0.0.1:${receiver.port}/`, failOnError: true }],
        bye: ['SEND_EMAIL', mail],
      },
    });
    const contacts = [await somebody(), await somebody(), await somebody(), await somebody()];
    for (const contact of contacts) await enter(automation, contact);
    await until(automation, 'FAILED');
    for (const contact of contacts) await execution(automation, contact).result();
    const [waiting, sent, unknown, refused] = await runsOf(database.db, automation.id);
    const settle = (run: { id: string } | undefined, status: string, code: string | null) =>
      database.db.count(
        `update emails set status = $2, sent_at = case when $3::text is null then now() end,
           reason = case when $3 is not null then jsonb_build_object('code', $3::text, 'words', 'no', 'number', 550) end
         where workflow_execution_id = $1`,
        [run?.id, status, code],
      );
    await settle(sent, 'SENT', null);
    await settle(unknown, 'FAILED', 'submission_unknown');
    await settle(refused, 'FAILED', 'refused');
    const { mail: from = '', tell = '', bye = '' } = automation.steps;
    const retry = (asked: Parameters<typeof retryExecutions>[3]) =>
      retryExecutions(database.db, project.id, automation.id, asked);
    const where = { stepId: tell, since: new Date(Date.now() - 3_600_000).toISOString(), errorContains: '500' };
    await database.db.count('update automations set graph_dirty = true where id = $1', [automation.id]);
    const { body: preview } = await retry({ where, from, dryRun: true });
    // A preview pins no graph that was edited.
    expect(await database.db.rows('select graph_dirty from automations where id = $1', [automation.id])).toEqual([
      { graph_dirty: true },
    ]);
    expect(preview).toMatchObject({ dryRun: true, retried: 4, skipped: 0, more: false });
    expect('steps' in preview && preview.steps).toEqual([
      {
        ...{ stepId: tell, stepName: 'tell', executions: 4 },
        ...{ failedSince: expect.any(String), lastError: expect.stringContaining('500') },
      },
    ]);
    for (const other of [
      { stepId: bye },
      { errorContains: 'refused' },
      { since: new Date(Date.now() + 3_600_000).toISOString() },
      { before: where.since },
    ])
      expect((await retry({ where: other })).body).toEqual({ retried: 0, skipped: 0, more: false });
    await expect(retry({ from: newId() })).rejects.toMatchObject({ status: 422 });
    expect(await status(automation)).toEqual(['FAILED', 'FAILED', 'FAILED', 'FAILED']);
    isMended = true;
    const [one, other] = await Promise.all([retry({ where, from }), retry({ where, from })]);
    expect(one.body.retried + other.body.retried).toBe(4);
    // A worker that is killed leaves its step to others: they and the execution move the run at the same time.
    const deps = advanceDeps(database.db);
    await Promise.all([waiting, sent, unknown, refused].map((run) => advance(deps, run?.id ?? '', null)));
    runtime.outbox.dispatchSoon(...one.tickets, ...other.tickets);
    await until(automation, 'COMPLETED');
    const after = await runsOf(database.db, automation.id);
    const names = after.map(({ steps }) => steps.map(({ name }) => name));
    expect(names).toEqual(after.map(() => ['trigger', 'mail', 'tell', 'mail', 'tell', 'bye']));
    expect(after.map(({ steps }) => steps[3]?.output.skipped ?? null)).toEqual([
      'already sent',
      'already sent',
      'already sent',
      null,
    ]);
    expect(after[0]?.steps[3]?.output.emailId).toBe(after[0]?.steps[1]?.output.emailId);
    const mails = await database.db.rows<{ mails: number }>(
      `select count(*)::int as mails from automation_runs r join emails e on e.workflow_execution_id = r.id
       where r.automation_id = $1 group by r.id order by r.id`,
      [automation.id],
    );
    expect(mails.map(({ mails: number }) => number)).toEqual([2, 2, 2, 3]);
    const facts = await contactFacts(database.db, project.id, contacts[0] ?? '');
    if (facts === null) throw new Error('The contact is gone');
    const { decisions } = await explainWorkflow(database.db, project.id, facts, automation.id, facts.readAt);
    expect(decisions.map(({ sentence }) => sentence)).toContain(
      'Step "mail" sent nothing after a retry: its email was sent before, or may have been.',
    );
  });

  test('one that is cancelled in the Web UI cancels its run', async () => {
    const automation = await anAutomation(database.db, project.id, {
      steps: { wait: ['DELAY', { amount: 9, unit: 'days' }] },
    });
    const contact = await somebody();
    await enter(automation, contact);
    await until(automation, 'WAITING');
    await execution(automation, contact).cancel();
    await until(automation, 'CANCELLED');
    expect(await runOf(database.db, automation.id)).toMatchObject({
      reason: 'Cancelled by operator',
      steps: [{ name: 'trigger' }, { name: 'wait', status: 'SKIPPED' }],
    });
  });

  test('a cancellation by the API is not taken for one of an operator', async () => {
    const automation = await anAutomation(database.db, project.id, {
      steps: { wait: ['DELAY', { amount: 9, unit: 'days' }] },
    });
    const contact = await somebody();
    await enter(automation, contact);
    await until(automation, 'WAITING');
    await database.db.count(
      `update automation_runs set status = 'CANCELLED', exit_reason = 'Cancelled by user' where automation_id = $1`,
      [automation.id],
    );
    await execution(automation, contact).cancel();
    await expect.poll(async () => (await execution(automation, contact).describe()).status.name).toBe('CANCELLED');
    expect((await runOf(database.db, automation.id)).reason).toBe('Cancelled by user');
    await cancelByOperator(database.db, (await runOf(database.db, automation.id)).id);
    expect((await runOf(database.db, automation.id)).reason).toBe('Cancelled by user');
  });

  test('a signal of an earlier step, or of none, changes nothing', async () => {
    const automation = await anAutomation(database.db, project.id, {
      steps: { wait: ['WAIT_FOR_EVENT', { eventName: 'order.paid' }], out: ['EXIT'] },
    });
    const contact = await somebody();
    await enter(automation, contact);
    await until(automation, 'WAITING');
    for (const seq of [0, 1, 2, 2, 99]) await execution(automation, contact).signal('resume', { seq });
    await anEvent(database.db, project.id, contact, 'order.placed');
    expect((await execution(automation, contact).describe()).status.name).toBe('RUNNING');
    expect(await status(automation)).toEqual(['WAITING']);
    await anEvent(database.db, project.id, contact, 'order.paid');
    expect(await execution(automation, contact).result()).toMatchObject({ status: 'EXITED' });
  });

  test('a delay whose time is changed in its row ends at the new time', async () => {
    const automation = await anAutomation(database.db, project.id, {
      steps: { wait: ['DELAY', { amount: 9, unit: 'days' }] },
    });
    const contact = await somebody();
    await enter(automation, contact);
    await until(automation, 'WAITING');
    const [run] = await runsOf(database.db, automation.id);
    await database.db.count(
      `update automation_step_runs set scheduled_for = now() + interval '300 ms' where run_id = $1 and step_type = 'DELAY'`,
      [run?.id],
    );
    await execution(automation, contact).signal('resume', { seq: run?.seq });
    await until(automation, 'COMPLETED');
  });
});

describe('a graph that is changed while people are inside', () => {
  const spec = {
    steps: {
      wait: ['WAIT_FOR_EVENT', { eventName: 'order.paid' }],
      set: ['UPDATE_CONTACT', { updates: { stage: 'old' } }],
      out: ['EXIT', { reason: 'old way' }],
    },
  } as const;

  test('steps are edited and deleted: they finish on the old graph', async () => {
    const automation = await anAutomation(database.db, project.id, { steps: { ...spec.steps } as never });
    const contact = await somebody();
    await enter(automation, contact);
    await until(automation, 'WAITING');
    await database.db.count(`update automation_steps set config = '{"reason":"new way"}' where id = $1`, [
      automation.steps.out,
    ]);
    await database.db.count('delete from automation_steps where id = $1', [automation.steps.set]);
    await database.db.count('update automations set graph_dirty = true where id = $1', [automation.id]);
    const newcomer = await somebody();
    await enter(automation, newcomer);
    await expect.poll(async () => (await status(automation)).filter((s) => s === 'WAITING').length).toBe(2);
    for (const one of [contact, newcomer]) await anEvent(database.db, project.id, one, 'order.paid');
    await expect.poll(async () => (await status(automation)).includes('WAITING')).toBe(false);
    const [old, newer] = await runsOf(database.db, automation.id);
    expect(old?.steps.map((step) => step.name)).toEqual(['trigger', 'wait', 'set', 'out']);
    expect(old).toMatchObject({ status: 'EXITED', reason: 'old way' });
    expect(newer?.steps.map((step) => step.name)).toEqual(['trigger', 'wait']);
  });

  test('a run that is to take over a newer version does so when it leaves its step', async () => {
    const automation = await anAutomation(database.db, project.id, { steps: { ...spec.steps } as never });
    const contact = await somebody();
    await enter(automation, contact);
    await until(automation, 'WAITING');
    await database.db.count(`update automation_steps set config = '{"reason":"new way"}' where id = $1`, [
      automation.steps.out,
    ]);
    await database.db.count('update automations set graph_dirty = true where id = $1', [automation.id]);
    const version = await database.db.transaction((sql) => ensureVersion(sql, automation.id));
    await database.db.count('update automation_runs set next_version_id = $2 where automation_id = $1', [
      automation.id,
      version,
    ]);
    await anEvent(database.db, project.id, contact, 'order.paid');
    await until(automation, 'EXITED');
    expect((await runOf(database.db, automation.id)).reason).toBe('new way');
  });
});

describe('a webhook', () => {
  const hook = (config: object) =>
    anAutomation(database.db, project.id, {
      steps: { hook: ['WEBHOOK', config], out: ['EXIT', { reason: 'after' }] },
    });

  test('an answer that is no success finishes the step, and the run goes on', async () => {
    await using receiver = await startReceiver((_, response) => void response.writeHead(404).end('not here'));
    const automation = await hook({ url: `http://127.0.0.1:${receiver.port}/` });
    await enter(automation, await somebody());
    await until(automation, 'EXITED');
    expect((await runOf(database.db, automation.id)).steps[1]).toMatchObject({
      status: 'COMPLETED',
      output: { statusCode: 404, success: false, response: 'not here' },
    });
    expect(receiver.requests).toHaveLength(1);
  });

  test('with failOnError it fails the step and the run', async () => {
    await using receiver = await startReceiver((_, response) => void response.writeHead(404).end());
    const automation = await hook({ url: `http://127.0.0.1:${receiver.port}/`, failOnError: true });
    await enter(automation, await somebody());
    await until(automation, 'FAILED');
    expect(await runOf(database.db, automation.id)).toMatchObject({ reason: 'The receiver answered 404' });
  });

  test('with retries it is repeated after 5xx, under the same delivery id', async () => {
    await using receiver = await startReceiver(
      (_, response, n) => void response.writeHead(n < 2 ? 503 : 200).end('ok'),
    );
    const automation = await hook({ url: `http://127.0.0.1:${receiver.port}/`, retries: 3 });
    await enter(automation, await somebody());
    await until(automation, 'EXITED');
    expect(receiver.requests).toHaveLength(2);
    const ids = receiver.requests.map((request) => request.headers['x-fernpost-delivery']);
    expect(ids[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(new Set(ids).size).toBe(1);
  });

  test('without retries a connection that is cut is not repeated', async () => {
    await using receiver = await startReceiver((_, response) => void response.destroy());
    const automation = await hook({ url: `http://127.0.0.1:${receiver.port}/` });
    await enter(automation, await somebody());
    await until(automation, 'FAILED');
    expect(receiver.requests).toHaveLength(1);
  });

  test('a receiver that is not there is tried twice more, for nothing was written', async () => {
    const receiver = await startReceiver();
    await receiver[Symbol.asyncDispose]();
    const automation = await hook({ url: `http://127.0.0.1:${receiver.port}/` });
    await enter(automation, await somebody());
    await until(automation, 'FAILED');
    const [calls] = await database.db.rows(
      `select unwritten_calls as unwritten, repeated_calls as repeated, error from automation_step_runs x
       join automation_runs r on r.id = x.run_id where r.automation_id = $1 and step_type = 'WEBHOOK'`,
      [automation.id],
    );
    expect(calls).toMatchObject({ unwritten: 2, repeated: 0, error: expect.stringContaining('refused') });
  });
});

describe('events', () => {
  test('start runs of every automation that listens for them, once for each event, with their data as context', async () => {
    const one = await anAutomation(database.db, project.id, { event: 'app.opened', steps: { out: ['EXIT'] } });
    const other = await anAutomation(database.db, project.id, { event: 'app.opened', steps: { out: ['EXIT'] } });
    const deaf = await anAutomation(database.db, project.id, { event: 'app.Opened', steps: {} });
    const off = await anAutomation(database.db, project.id, { event: 'app.opened', steps: {}, enabled: false });
    const contact = await somebody();
    await anEvent(database.db, project.id, contact, 'app.opened', {
      id: 7,
      from: { value: 'push', persistent: false },
    });
    await anEvent(database.db, project.id, null, 'app.opened');
    await until(one, 'EXITED');
    await until(other, 'EXITED');
    expect((await runOf(database.db, one.id)).context).toEqual({ id: 7, from: 'push' });
    expect(await status(deaf)).toEqual([]);
    expect(await status(off)).toEqual([]);
  });

  test('of the service itself start runs too', async () => {
    const automation = await anAutomation(database.db, project.id, {
      event: 'contact.unsubscribed',
      steps: { out: ['EXIT'] },
    });
    const contact = await somebody();
    await database.db.count('update contacts set subscribed = false where id = $1', [contact]);
    await anEvent(database.db, project.id, contact, 'contact.unsubscribed');
    await until(automation, 'EXITED');
  });

  test('an event that starts and one that resumes are told apart by the moment', async () => {
    const automation = await anAutomation(database.db, project.id, {
      event: 'cart.filled',
      steps: { wait: ['WAIT_FOR_EVENT', { eventName: 'cart.filled' }], out: ['EXIT'] },
    });
    const contact = await somebody();
    await anEvent(database.db, project.id, contact, 'cart.filled', { n: 1 });
    await until(automation, 'WAITING');
    await anEvent(database.db, project.id, contact, 'cart.filled', { n: 2 });
    await until(automation, 'EXITED');
    expect(await runsOf(database.db, automation.id)).toHaveLength(1);
    expect((await runOf(database.db, automation.id)).context).toEqual({ n: 2 });
  });

  test('re-entry: without it a contact comes in once, with it whenever no run is active', async () => {
    const spec = { event: 'level.up', steps: { out: ['EXIT'] } } as const;
    const once = await anAutomation(database.db, project.id, { ...spec, steps: { out: ['EXIT'] } });
    const often = await anAutomation(database.db, project.id, {
      ...spec,
      steps: { out: ['EXIT'] },
      allowReentry: true,
    });
    const contact = await somebody();
    for (let n = 1; n <= 3; n++) {
      await anEvent(database.db, project.id, contact, 'level.up', { n });
      await expect.poll(async () => (await status(often)).filter((s) => s === 'EXITED').length).toBe(n);
    }
    expect(await status(once)).toEqual(['EXITED']);
  });

  test('two automations that start each other are stopped by the guard, and that is counted', async () => {
    const one = await anAutomation(database.db, project.id, {
      event: 'contact.subscribed',
      steps: { flip: ['UPDATE_CONTACT', { subscriptionAction: 'unsubscribe' }] },
      allowReentry: true,
    });
    await anAutomation(database.db, project.id, {
      event: 'contact.unsubscribed',
      steps: { flip: ['UPDATE_CONTACT', { subscriptionAction: 'subscribe' }] },
      allowReentry: true,
    });
    const contact = await somebody();
    await anEvent(database.db, project.id, contact, 'contact.subscribed');
    await expect
      .poll(async () => (await database.db.rows('select refused from automation_refusals')).length)
      .toBeGreaterThan(0);
    expect((await status(one)).length).toBe(5);
    await database.db.count('update automations set enabled = false where project_id = $1', [project.id]);
  });
});

describe('what is lost is put right', () => {
  const dispatchSoon = (...tickets: OutboxTicket[]) => runtime.outbox.dispatchSoon(...tickets);
  const recovery = (kind: RecoverableKind) =>
    createRecovery({ db: database.db, isOpen: (id) => isOpen(runtime.worker.temporal, id), dispatchSoon }, kind, 0);

  test('a run whose execution was terminated goes on from its row once its time has come', async () => {
    const automation = await anAutomation(database.db, project.id, {
      steps: { wait: ['DELAY', { amount: 0.02, unit: 'minutes' }], out: ['EXIT'] },
    });
    const contact = await somebody();
    await enter(automation, contact);
    await until(automation, 'WAITING');
    await execution(automation, contact).terminate('a lost store');
    const recover = recovery(recoverableRuns);
    await expect.poll(() => recover()).toBe(1);
    await until(automation, 'EXITED');
  });

  test.each(['gone', 'open'])(
    'a pause lets timers pass and sends nothing until it ends: the execution is %s',
    async (state) => {
      const automation = await anAutomation(database.db, project.id, {
        ...{ event: `paused ${state}` },
        steps: {
          wait: ['DELAY', { amount: 0.02, unit: 'minutes' }],
          mail: ['SEND_EMAIL', { templateId: await aTemplate(database.db, project) }],
        },
      });
      const contacts = [await somebody(), await somebody()] as const;
      await enter(automation, contacts[0]);
      await until(automation, 'WAITING');
      await pauseAutomation(database.db, project.id, automation.id);
      await anEvent(database.db, project.id, contacts[1], `paused ${state}`);
      const held = execution(automation, contacts[0]);
      await expect.poll(async () => held.query(queries.where)).toMatchObject({ waitingFor: 'the end of the pause' });
      expect(await recovery(recoverableRuns)()).toBe(0);
      if (state === 'gone') await held.terminate('a lost store');
      expect(await runOf(database.db, automation.id)).toMatchObject({ status: 'WAITING', at: 'wait' });
      await resumeAutomation(database.db, project.id, automation.id, 0);
      await expect.poll(() => status(automation)).toEqual(['COMPLETED', 'COMPLETED']);
      const mails = await database.db.rows(
        `select count(*)::int as mails from emails e join automation_runs r on r.id = e.workflow_execution_id
       where r.automation_id = $1 group by r.id`,
        [automation.id],
      );
      expect(mails).toEqual([{ mails: 1 }, { mails: 1 }]);
    },
  );

  test.each(['gone', 'open'])(
    'a wait whose event was recorded, but whose signal was lost with the store, goes on: its execution is %s',
    async (state) => {
      const automation = await anAutomation(database.db, project.id, {
        steps: { wait: ['WAIT_FOR_EVENT', { eventName: 'order.paid', timeout: 3600 }], out: ['EXIT'] },
      });
      const contact = await somebody();
      await enter(automation, contact);
      await until(automation, 'WAITING');
      if (state === 'gone') await execution(automation, contact).terminate('a lost store');
      const run = await runOf(database.db, automation.id);
      await database.db.count(
        `update automation_step_runs set outcome = 'EVENT', resume_event_id = uuidv7() where run_id = $1 and status = 'WAITING'`,
        [run.id],
      );
      // Its time is an hour away, so that nothing else would ever see it before.
      expect(await recovery(recoverableRuns)()).toBe(0);
      const recover = recovery(recoverableWaits);
      await expect.poll(() => recover()).toBeGreaterThan(0);
      await until(automation, 'EXITED');
      expect((await runOf(database.db, automation.id)).steps[1]).toMatchObject({
        status: 'COMPLETED',
        outcome: 'EVENT',
      });
    },
  );

  test('an event for a run whose execution is gone starts it again', async () => {
    const automation = await anAutomation(database.db, project.id, {
      steps: { wait: ['WAIT_FOR_EVENT', { eventName: 'order.paid' }], out: ['EXIT'] },
    });
    const contact = await somebody();
    await enter(automation, contact);
    await until(automation, 'WAITING');
    await execution(automation, contact).terminate('a lost store');
    await anEvent(database.db, project.id, contact, 'order.paid');
    await until(automation, 'EXITED');
  });

  test('a contact that is deleted in the middle leaves no execution behind', async () => {
    const automation = await anAutomation(database.db, project.id, {
      steps: { wait: ['DELAY', { amount: 9, unit: 'days' }] },
    });
    const contact = await somebody();
    await enter(automation, contact);
    await until(automation, 'WAITING');
    await database.db.count('delete from contacts where id = $1', [contact]);
    await expect.poll(async () => (await execution(automation, contact).describe()).status.name).toBe('CANCELLED');
    expect(await runsOf(database.db, automation.id)).toEqual([]);
  });

  test('an open execution whose run has ended is cancelled', async () => {
    const automation = await anAutomation(database.db, project.id, {
      steps: { wait: ['DELAY', { amount: 9, unit: 'days' }] },
    });
    const contact = await somebody();
    await enter(automation, contact);
    await until(automation, 'WAITING');
    await database.db.count(
      `update automation_runs set status = 'CANCELLED', exit_reason = 'Cancelled by user', due_at = null where automation_id = $1`,
      [automation.id],
    );
    const run = createOrphanCheck({
      db: database.db,
      openExecutions: (before, limit) =>
        openAutomations(runtime.worker.temporal, runtime.worker.queuePrefix, before, limit),
      dispatchSoon,
      afterMs: 0,
    });
    await expect
      .poll(
        async () => {
          await run();
          return (await execution(automation, contact).describe()).status.name;
        },
        { interval: 200 },
      )
      .toBe('CANCELLED');
  });
});
