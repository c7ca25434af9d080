import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrationActivities } from '../../activities/automation.ts';
import { startRuns } from '../../src/automations/enrollment/starting.ts';
import { newId } from '../../src/lib/ids.ts';
import { enqueueAll } from '../../src/store/outbox/queries.ts';
import type { Database } from '../../src/store/sql.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../support/api.ts';
import { audience } from '../support/audience.ts';
import { automationRuntime, runsOf, type TestRuntime } from '../support/automation-fixtures.ts';
import { type AutomationHand, automationHand } from '../support/automations.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { inFull } from '../support/long.ts';
import { type TestWorker, testWorker } from '../support/worker.ts';

let database: TestDatabase;
let db: Database;
let api: TestApi;
let project: TestProject;
let own: AutomationHand;
let runtime: TestRuntime;
let bulk: TestWorker;

beforeAll(async () => {
  database = await testDatabase();
  db = database.db;
  // The API makes no calls of its own here: the relay of the test does, to the queues of its workers.
  api = await testApi(database, { TEMPORAL_ADDRESS: '127.0.0.1:1' });
  project = await aProject(database);
  own = automationHand(api, project);
  runtime = await automationRuntime(database);
  bulk = await testWorker({
    activities: migrationActivities({
      db,
      stopping: new AbortController().signal,
    }),
    queues: ['bulk'],
    queuePrefix: runtime.worker.queuePrefix,
  });
});
afterAll(async () => {
  await bulk.stop();
  await runtime[Symbol.asyncDispose]();
  await api.close();
  await database.close();
});

const days = (amount: number) => ({ amount, unit: 'days' });
const soon = { amount: 0.001, unit: 'minutes' };

/** Wait, mail, exit; enabled. */
async function waitAndMail(wait: object = days(30), type = 'DELAY') {
  const { id } = await own.automation();
  const first = await own.step(id, type, wait as Record<string, unknown>, { name: 'Wait' });
  const templateId = await own.template();
  const mail = await own.step(id, 'SEND_EMAIL', { templateId }, { name: 'Mail' });
  const exit = await own.step(id, 'EXIT', { reason: 'done' }, { name: 'Done' });
  await own.enable(id);
  return { id, wait: first, mail, exit };
}

/** Lets so many new contacts in, and waits until all of them wait. Answers their ids. */
async function fill(id: string, count: number): Promise<string[]> {
  const people = audience();
  const contacts = Array.from({ length: count }, (_, n) => {
    const person = people[n % people.length];
    return { id: newId(), email: `${newId()}.${person?.email}`, data: person?.data };
  });
  await db.count(
    `insert into contacts (id, project_id, email, subscribed, data)
     select id, $1, email, true, data from jsonb_to_recordset($2::jsonb) as c (id uuid, email text, data jsonb)`,
    [project.id, JSON.stringify(contacts)],
  );
  for (let from = 0; from < count; from += 200) {
    const wishes = contacts
      .slice(from, from + 200)
      .map((contact) => ({ contactId: contact.id, context: null, sourceEventId: null }));
    await db.transaction(async (sql) => {
      const { starts } = await startRuns(sql, project.id, id, wishes, 0);
      await enqueueAll(sql, starts);
    });
  }
  await statuses(id, { WAITING: count });
  return contacts.map((contact) => contact.id);
}

const statuses = (id: string, expected: Record<string, number>) =>
  expect
    .poll(
      async () =>
        Object.fromEntries(
          (
            await db.rows<{ status: string; count: number }>(
              `select case when status = 'CANCELLED' then concat_ws(': ', status, exit_reason) else status end as status, count(*)::int as count
               from automation_runs where automation_id = $1 group by 1`,
              [id],
            )
          ).map(({ status, count }) => [status, count]),
        ),
      { timeout: 600_000, interval: 200 },
    )
    .toEqual(expected);

async function edit(id: string, stepId: string, config: object) {
  await own.done('PATCH', `/workflows/${id}`, { enabled: false });
  await own.done('PATCH', `/workflows/${id}/steps/${stepId}`, { config });
  await own.done('PATCH', `/workflows/${id}`, { enabled: true });
}

/** Migrates and waits for the end of it. */
async function migrated(id: string, plan: object) {
  const answer = await own.call('POST', `/workflows/${id}/migrate`, plan);
  expect(answer.status).toBe(202);
  const path = `/workflows/${id}/migrations/${answer.body.id}`;
  await expect.poll(async () => (await own.done('GET', path)).state, { interval: 100 }).toBe('completed');
  return own.done('GET', path);
}

const mailsTo = (id: string) =>
  db.rows<{ contact: string }>(
    `select e.contact_id as contact from emails e join automation_runs r on r.id = e.workflow_execution_id
     where r.automation_id = $1`,
    [id],
  );

// A job moves 500 at a time: 520 take it two steps, as the 1,000 of the contract do.
const crowd = inFull(1_000, 150);

test('a migration of many waiting executions with a changed delay loses nobody and mails nobody twice', async () => {
  const { id, wait } = await waitAndMail();
  const contacts = await fill(id, crowd);
  await edit(id, wait, soon);
  const plan = { plan: [{ stepId: wait, action: 'moveNow', toStepId: wait }] };
  const preview = await own.done('POST', `/workflows/${id}/migrate`, { ...plan, dryRun: true });
  expect(preview).toMatchObject({
    dryRun: true,
    toVersion: 2,
    people: crowd,
    rules: [{ stepId: wait, stepName: 'Wait', stepType: 'DELAY', action: 'moveNow', toStepId: wait, people: crowd }],
  });
  expect(await migrated(id, plan)).toMatchObject({ expected: crowd, movedNow: crowd, progress: 100, toVersion: 2 });
  await statuses(id, { EXITED: crowd });
  expect((await mailsTo(id)).map(({ contact }) => contact).sort()).toEqual(contacts.sort());
});

test('a longer delay keeps people waiting from when their wait began, and a new event is awaited instead of the old', async () => {
  const delayed = await waitAndMail();
  await fill(delayed.id, 2);
  await edit(delayed.id, delayed.wait, days(40));
  await migrated(delayed.id, { otherwise: { action: 'moveNow', toStepId: delayed.wait } });
  const [row] = await db.rows<{ days: number; input: object; due: boolean }>(
    `select extract(day from x.scheduled_for - x.started_at)::int as days, x.input, x.scheduled_for = r.due_at as due
     from automation_step_runs x join automation_runs r on r.id = x.run_id
     where r.automation_id = $1 and x.status = 'SCHEDULED'`,
    [delayed.id],
  );
  expect(row).toEqual({ days: 40, input: days(40), due: true });

  const waiting = await waitAndMail({ eventName: 'old.event' }, 'WAIT_FOR_EVENT');
  const [contactId = ''] = await fill(waiting.id, 1);
  await edit(waiting.id, waiting.wait, { eventName: 'new.event' });
  await migrated(waiting.id, { otherwise: { action: 'moveNow', toStepId: waiting.wait } });
  await own.done('POST', '/events/track', { name: 'old.event', contactId });
  await own.done('POST', '/events/track', { name: 'new.event', contactId });
  await statuses(waiting.id, { EXITED: 1 });
  const [run] = await runsOf(db, waiting.id);
  expect(run?.steps[1]?.output).toMatchObject({ waitOutcome: 'EVENT', eventName: 'new.event' });

  const zone = 'Asia/Tokyo';
  const timed = await waitAndMail({ time: '09:00', zone }, 'WAIT_UNTIL');
  await fill(timed.id, 1);
  await edit(timed.id, timed.wait, { time: '10:30', zone });
  await migrated(timed.id, { otherwise: { action: 'moveNow', toStepId: timed.wait } });
  await expect
    .poll(() =>
      db.row<{ at: string }>(
        `select to_char(r.due_at at time zone 'UTC', 'HH24:MI') as at from automation_runs r where r.automation_id = $1`,
        [timed.id],
      ),
    )
    .toEqual({ at: '01:30' });
});

test('each rule does what it says: finish, move at the next step, move now to another step, exit', async () => {
  const { id } = await waitAndMail({ eventName: 'go' }, 'WAIT_FOR_EVENT');
  for (const action of ['finish', 'moveAtNextStep', 'moveNow', 'exit']) {
    const one = await own.done('POST', `/workflows/${id}/duplicate`);
    const { steps } = await own.done('GET', `/workflows/${one.id}`);
    const [, waits, mails, exits] = steps.map((step: { id: string }) => step.id);
    await own.enable(one.id);
    const [contactId = ''] = await fill(one.id, 1);
    // In the new version the exit has another reason, so that the way a person takes can be told.
    await edit(one.id, exits, { reason: 'new' });
    const rule = { stepId: waits, action, ...(action === 'moveNow' ? { toStepId: mails } : {}), reason: 'moved out' };
    const done = await migrated(one.id, { plan: [rule] });
    const counts = { finish: 'finished', moveAtNextStep: 'movedAtNextStep', moveNow: 'movedNow', exit: 'exited' };
    expect(done).toMatchObject({ expected: 1, [counts[action as keyof typeof counts]]: 1 });
    if (action === 'finish' || action === 'moveAtNextStep')
      await own.done('POST', '/events/track', { name: 'go', contactId });
    await statuses(one.id, { EXITED: 1 });
    const [run] = await runsOf(db, one.id);
    const reasons = { finish: 'done', moveAtNextStep: 'new', moveNow: 'new', exit: 'moved out' };
    expect([action, run?.reason]).toEqual([action, reasons[action as keyof typeof reasons]]);
    expect(await mailsTo(one.id)).toHaveLength(action === 'exit' ? 0 : 1);
    if (action === 'moveNow') expect(run?.steps[1]).toMatchObject({ name: 'Wait', status: 'SKIPPED' });
  }
});
