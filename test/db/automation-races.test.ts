import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { RunRow } from '../../src/automations/rows.ts';
import { cancelExecutions, retryExecutions } from '../../src/automations/runs/actions.ts';
import { advance } from '../../src/automations/runtime/advance.ts';
import type { Directive } from '../../src/automations/runtime/directive.ts';
import type { TrackBody } from '../../src/contacts/events/schema.ts';
import { track } from '../../src/contacts/events/service.ts';
import { patchContact } from '../../src/contacts/service.ts';
import { claimQueued } from '../../src/mail/queue/claims.ts';
import { deliverPending } from '../../src/mail/queue/deliver.ts';
import { despiteDeadlocks } from '../../src/store/postgres/connection.ts';
import type { Database } from '../../src/store/sql.ts';
import {
  type AutomationSpec,
  advanceDeps,
  anAutomation,
  anEvent,
  aTemplate,
  letIn,
} from '../support/automation-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aContact, aProject, deliveryDeps, plainly, type TestProject } from '../support/delivery-fixtures.ts';
import { inFull } from '../support/long.ts';
import { FakeMailer } from '../support/mailer.ts';

const races = inFull(1_000, 100);
const rounds = inFull(200, 15);
const retried = inFull(300, 60);

let database: TestDatabase;
let project: TestProject;
let deps: ReturnType<typeof advanceDeps>;

beforeAll(async () => {
  database = await testDatabase(24);
});
afterAll(() => database.close());
beforeEach(async () => {
  project = await aProject(database.db);
  deps = advanceDeps(database.db);
});

const people = (db: Database, count: number) =>
  Promise.all(Array.from({ length: count }, (_, n) => aContact(db, project.id, `racer-${n}@example.com`)));
const tracks = (db: Database, email: string, subscribed: boolean | null) =>
  track((work) => work(db), project.id, { email, event: 'order.paid', subscribed, data: null } as TrackBody);
const exit = { id: 'bought', on: { event: 'order.paid' }, reason: 'bought something' };
/** What Postgres takes for now, which is the clock of claims. */
const clock = async () =>
  (await database.db.row<{ at: number }>('select 1000 * extract(epoch from clock_timestamp())::float8 as at'))?.at ?? 0;

test(`event of the step, timeout and exit at one instant, ${races} times: one end each, and no mail at the sink that was not under way to it before the exit`, async () => {
  const { db } = database;
  const contacts = await people(db, races);
  const automation = await anAutomation(db, project.id, {
    exits: [exit],
    steps: {
      wait: ['WAIT_FOR_EVENT', { eventName: 'cart.opened', timeout: 3600 }],
      mail: ['SEND_EMAIL', { templateId: await aTemplate(db, project) }],
      rest: ['DELAY', { amount: 1, unit: 'days' }],
    },
  });
  const runs = await letIn(db, automation, contacts);
  await Promise.all(runs.map((run) => advance(deps, run.id, 0)));
  const mailer = new FakeMailer({ name: 'races' });
  // When the claim of each mail was taken that came to the sink.
  const claimedAt = new Map<string, number>();
  mailer.onCall = async (claimId) => {
    const claimed = await db.rows<{ id: string; at: number }>(
      'select email_id as id, 1000 * extract(epoch from claimed_at)::float8 as at from email_queue where claim_id = $1',
      [claimId],
    );
    for (const { id, at } of claimed) claimedAt.set(id, at);
  };
  const stop = new AbortController();
  let attempt = 0;
  const pace = { claims: 2, lingerMs: 0, longestMs: 1 };
  const deliver = async () => {
    const run = { projectId: project.id, prefix: 'races.', stop: new AbortController().signal };
    while (!stop.signal.aborted) {
      await deliverPending(deliveryDeps(db, mailer), { ...run, attempt: ++attempt }, pace);
      // Some mail waits in the queue for a moment.
      await sleep(25);
    }
  };
  const delivery = deliver();

  // Since when everybody can see that the run has left.
  const leftBy = new Map<string, number>();
  const noting = async (id: string, moved: Promise<Directive>) => {
    const directive = await moved;
    if (directive.next !== 'done') return;
    const at = await clock();
    leftBy.set(id, Math.min(at, leftBy.get(id) ?? at));
  };
  // A few at once, so that nobody waits for a connection.
  const turns = pLimit(5);
  const race = async ({ id, contactId }: RunRow, n: number) => {
    await db.count(
      `update automation_step_runs set execute_after = clock_timestamp() + interval '10 ms'
       where run_id = $1 and execute_after is not null`,
      [id],
    );
    await sleep(5 + (n % 10));
    const leave = async () => {
      await anEvent(db, project.id, contactId, 'order.paid');
      await noting(id, advance(deps, id, null));
    };
    const opened = () => anEvent(db, project.id, contactId, 'cart.opened').then(() => noting(id, advance(deps, id, 2)));
    // One in four leaves before anything else happens, one as it does, one while its mail waits, and one whose mail is at the sink.
    if (n % 4 === 0) await leave();
    await Promise.all([noting(id, advance(deps, id, 2)), opened(), n % 4 === 1 ? leave() : undefined]);
    if (n % 4 === 2) await leave();
    if (n % 4 !== 3) return;
    await expect.poll(() => mailer.recipients.includes(`racer-${n}@example.com`), { interval: 2 }).toBe(true);
    await leave();
  };
  await Promise.all(runs.map((run, n) => turns(() => race(run, n))));
  for (const { id } of runs) await noting(id, advance(deps, id, null));
  stop.abort();
  await delivery;
  await deliverPending(deliveryDeps(db, mailer), {
    projectId: project.id,
    prefix: 'last.',
    attempt: 1,
    stop: new AbortController().signal,
  });

  const ends = await db.rows<{
    id: string;
    status: string;
    reason: string;
    ways: number;
    mails: { id: string; status: string }[];
  }>(
    `select r.id, r.status, r.exit_reason as reason,
       (select count(*)::int from automation_step_runs x where x.run_id = r.id and x.status in ('WAITING', 'SCHEDULED')) as ways,
       coalesce((select jsonb_agg(jsonb_build_object('id', m.id, 'status', m.status)) from emails m
         where m.workflow_execution_id = r.id), '[]') as mails
     from automation_runs r where r.automation_id = $1`,
    [automation.id],
  );
  expect(ends).toHaveLength(races);
  const got = mailer.taken.map(({ message }) => message.emailId);
  expect(new Set(got).size).toBe(got.length);
  const seen = { CANCELLED: 0, SENT: 0, none: 0 };
  for (const { id, mails, ...end } of ends) {
    expect(end).toEqual({ status: 'EXITED', reason: 'bought something', ways: 0 });
    expect(mails.length).toBeLessThanOrEqual(1);
    const [mail] = mails;
    seen[(mail?.status ?? 'none') as keyof typeof seen] += 1;
    if (mail === undefined) continue;
    expect(['CANCELLED', 'SENT']).toContain(mail.status);
    expect(got.includes(mail.id)).toBe(mail.status === 'SENT');
    // Mail that a claim had before is under way, as a webhook may be. The claim's time is rounded to milliseconds.
    if (mail.status === 'SENT') expect((claimedAt.get(mail.id) ?? Number.NaN) - 0.5).toBeLessThan(leftBy.get(id) ?? 0);
  }
  expect(seen.CANCELLED + seen.SENT + seen.none).toBe(races);
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0);
  expect(await db.rows('select from email_queue where project_id = $1', [project.id])).toEqual([]);
});

const resting: AutomationSpec = { exits: [exit], steps: { rest: ['DELAY', { amount: 1, unit: 'days' }] } };

test.each([
  { what: 'the cancellation of a workflow', by: 'cancel' },
  { what: 'an event that two workflows listen to', by: 'event' },
  { what: 'a change of a contact that two workflows listen to', by: 'change' },
])('$what that Postgres undoes to end a deadlock is made again', async ({ by }) => {
  const isCancelled = by === 'cancel';
  const { db } = database;
  const [contact = '', other = ''] = await people(db, 2);
  const subscribing = { ...resting, exits: [{ ...exit, on: { event: 'contact.subscribed' } }] };
  const first = await anAutomation(db, project.id, by === 'change' ? subscribing : resting);
  const second = await anAutomation(db, project.id, by === 'change' ? subscribing : resting);
  if (by === 'change') await patchContact(db, project.id, contact, { subscribed: false });
  const [run] = await letIn(db, first, [contact]);
  // The request locks this run after the other one.
  const [later] = isCancelled ? await letIn(db, first, [other]) : await letIn(db, second, [contact]);
  const deadlocks = async () =>
    (
      await db.row<{ deadlocks: number }>(
        'select deadlocks::int from pg_stat_database where datname = current_database()',
      )
    )?.deadlocks ?? 0;
  const before = await deadlocks();
  let request: Promise<unknown> = Promise.resolve();
  const locking = 'select id from automation_runs where id = $1 for update';
  await db.transaction(async (tx) => {
    // The request finds the deadlock first.
    await tx.count(`set local deadlock_timeout = '10min'`);
    await tx.rows(locking, [later?.id]);
    request = {
      cancel: () => cancelExecutions(db, project.id, first.id),
      event: () => tracks(db, 'racer-0@example.com', null),
      change: () => patchContact(db, project.id, contact, { subscribed: true }),
    }[by as 'cancel' | 'event' | 'change']();
    const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    await expect.poll(async () => (await db.rows(waiting)).length, { interval: 5 }).toBeGreaterThan(0);
    expect(await tx.rows(locking, [run?.id])).toHaveLength(1);
  });
  const answers = { cancel: { cancelled: 2 }, event: { contact }, change: { id: contact, subscribed: true } };
  expect(await request).toMatchObject(answers[by as keyof typeof answers]);
  await expect.poll(deadlocks).toBeGreaterThan(before);
});

test(`workflows that end each other's runs, cancelled together while events come, ${rounds} times: every request is answered`, async () => {
  await using racing = await testDatabase(24);
  const { db } = racing;
  // For connections from now on: deadlocks are found soon.
  await db.count(
    `do $$ begin execute format('alter database %I set deadlock_timeout = ''30ms''', current_database()); end $$`,
  );
  project = await aProject(db);
  deps = advanceDeps(db);
  const contacts = await people(db, 6);
  const events = ['order.paid', 'contact.subscribed', 'contact.unsubscribed'];
  // The tests of the exits pass nothing, so that everybody is held and nobody leaves.
  const where = [{ path: 'total', operator: 'equals', value: 1 }];
  const listening = (eventName: string, ...actions: string[]): AutomationSpec => ({
    allowReentry: true,
    exits: events.map((event) => ({ id: event, on: { event, where }, reason: event })),
    steps: {
      wait: ['WAIT_FOR_EVENT', { eventName }],
      ...Object.fromEntries(
        actions.map((subscriptionAction): [string, AutomationSpec['steps'][string]] => [
          subscriptionAction,
          ['UPDATE_CONTACT', { subscriptionAction }],
        ]),
      ),
      again: ['WAIT_FOR_EVENT', { eventName: 'order.paid' }],
    },
  });
  const automations = [
    await anAutomation(db, project.id, listening('contact.unsubscribed', 'subscribe', 'unsubscribe')),
    await anAutomation(db, project.id, listening('contact.subscribed', 'unsubscribe', 'subscribe')),
    await anAutomation(db, project.id, listening('order.paid', 'unsubscribe', 'subscribe')),
  ];
  for (let round = 0; round < rounds; round += 1) {
    const runs = [];
    for (const automation of round % 2 === 0 ? automations : automations.toReversed())
      runs.push(...(await letIn(db, automation, contacts)));
    await Promise.all(runs.map((run) => advance(deps, run.id, 0)));
    await Promise.all([
      ...contacts.flatMap((_, n) =>
        [true, false, null].map((subscribed) => tracks(db, `racer-${n}@example.com`, subscribed)),
      ),
      // Temporal repeats an activity that failed.
      ...[...runs, ...runs].map((run) => despiteDeadlocks(() => advance(deps, run.id, null))),
      ...automations.map(async ({ id }, n) => {
        await sleep((round * 3 + n) % 25);
        await cancelExecutions(db, project.id, id);
      }),
    ]);
    for (const { id } of automations) await cancelExecutions(db, project.id, id);
  }
  const left = await db.rows(`select from automation_runs where project_id = $1 and status in ('RUNNING', 'WAITING')`, [
    project.id,
  ]);
  expect(left).toEqual([]);
});

test(`executions that failed are retried while workers are killed, ${retried} of them twice at once: no second mail comes to the sink`, async () => {
  const { db } = database;
  const mail = async (subject: string) => ({ templateId: await aTemplate(db, project, { subject }) });
  const automation = await anAutomation(db, project.id, {
    steps: {
      first: ['SEND_EMAIL', await mail('First')],
      tell: ['WEBHOOK', { url: 'https://crm.example.com/', failOnError: true }],
      last: ['SEND_EMAIL', await mail('Last')],
    },
  });
  const runs = await letIn(db, automation, await people(db, retried));
  /** The database of a worker that is killed as it commits: before, or once that is done and nobody has heard of it. */
  const killed = (when: 'before' | 'after'): Database => ({
    ...db,
    transaction: async (work) => {
      await db.transaction(async (tx) => {
        await work(tx);
        if (when === 'before') throw new Error('killed');
      });
      throw new Error('killed');
    },
  });
  const go = async (id: string, n: number, answer: object | null) => {
    const deaths = (['before', 'after', 'after', 'before'] as const).slice(n % 3, n % 5);
    for (;;) {
      const death = deaths.pop();
      const mortal = death === undefined ? deps : { ...deps, db: killed(death) };
      const directive = await advance(mortal, id, null).catch((error: Error) => {
        if (error.message !== 'killed') throw error;
        return null;
      });
      if (directive?.next === 'done') return;
      if (directive?.next === 'http')
        await db.count(
          `update automation_step_runs set output = $2::jsonb, error = case when $2::jsonb is null then 'no answer' end where id = $1`,
          [directive.stepRunId, answer && JSON.stringify(answer)],
        );
    }
  };
  const turns = pLimit(5);
  const all = (answer: object | null) => Promise.all(runs.map(({ id }, n) => turns(() => go(id, n, answer))));
  const statuses = () =>
    db.rows('select status, count(*)::int as runs from automation_runs where automation_id = $1 group by 1', [
      automation.id,
    ]);
  await all(null);
  expect(await statuses()).toEqual([{ status: 'FAILED', runs: retried }]);

  // Of the first mail some is at the sink and nobody knows, some was claimed by a worker that died, and the rest waits.
  const mailer = new FakeMailer({ name: 'retries', dropAnswers: 2 });
  const limits = { messages: Math.floor(retried / 3), rate: 0, provider: mailer.name };
  const taken = await claimQueued(db, project.id, 'sink.0.1', limits);
  await mailer.send('sink.0.1', taken.map(plainly));
  expect(await claimQueued(db, project.id, 'sink.0.2', limits)).toHaveLength(limits.messages);
  let attempt = 0;
  const deliver = () =>
    deliverPending(
      deliveryDeps(db, mailer),
      { projectId: project.id, prefix: 'sink.', attempt: ++attempt, stop: new AbortController().signal },
      { claims: 2, lingerMs: 0, longestMs: 200 },
    );
  const asked = { where: { stepId: automation.steps.tell }, from: automation.steps.first } as never;
  const retry = () => retryExecutions(db, project.id, automation.id, asked);
  const [one, other] = await Promise.all([retry(), retry(), deliver()]);
  expect([one, other].map(({ body }) => body.retried).reduce((sum, count) => sum + count)).toBe(retried);
  await Promise.all([all({ statusCode: 200, success: true }), deliver()]);
  expect(await statuses()).toEqual([{ status: 'COMPLETED', runs: retried }]);
  await expect
    .poll(async () => {
      await deliver();
      return db.count('select from email_queue where project_id = $1', [project.id]);
    })
    .toBe(0);
  const got = mailer.taken.map(({ message }) => `${message.subject} ${message.to.address}`).toSorted();
  expect(got).toEqual(
    ['First', 'Last'].flatMap((name) => runs.map((_, n) => `${name} racer-${n}@example.com`)).toSorted(),
  );
});
