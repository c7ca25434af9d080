import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { queueSystemMails } from '../../src/accounts/system-mail/service.ts';
import { reviveCampaign } from '../../src/campaigns/lifecycle/recovery.ts';
import { setPaused } from '../../src/campaigns/state.ts';
import { deleteProject } from '../../src/insight/wipes/queries.ts';
import { startApi } from '../../src/main/api/api-runtime.ts';
import { type RunningWorker, startWorker } from '../../src/main/worker/worker-runtime.ts';
import { enqueue, enqueueAll } from '../../src/store/outbox/queries.ts';
import { scheduleRevision } from '../../src/store/outbox/schedules.ts';
import { type StartCommand, workflowId, workflowScheduleId } from '../../temporal/commands.ts';
import { openTemporal, type TemporalConnection } from '../../temporal/connection.ts';
import { isTemporalSetUp, reconcileNow } from '../../temporal/setup.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../support/api.ts';
import { type AutomationHand, automationHand } from '../support/automations.ts';
import { aCampaign, campaignRow, contacts, scheduled, started } from '../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { FakeMailer } from '../support/mailer.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { allOf, dataIs, segmentHand } from '../support/segments.ts';
import { type TemporalStore, temporalStore, twoVersions } from '../support/temporal-store.ts';
import { uploaded } from '../support/uploads.ts';

// Rows say what is true. Whatever becomes of the store of Temporal, they lead every kind of work to its end.
let database: TestDatabase;
let store: TemporalStore;
let temporal: TemporalConnection;
let receiver: Receiver;
let api: TestApi;
let settings: Record<string, string>;
let names = 0;

beforeAll(async () => {
  [database, store, receiver] = await Promise.all([testDatabase(), temporalStore(), startReceiver()]);
  temporal = openTemporal({ address: store.address, namespace: 'default', apiKey: null, tls: null });
  settings = { TEMPORAL_ADDRESS: store.address, TEMPORAL_SETUP: 'true', WEBHOOK_ALLOWED_HOSTS: '127.0.0.1' };
  api = await testApi(database, settings);
});
afterAll(async () => {
  await api.close();
  await temporal.close();
  await store[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  await database.close();
});

/** A worker process's parts, with the lines it logs. */
async function aWorker(mailer = new FakeMailer({ name: `store-${names++}` })) {
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => lines.push(line) });
  const worker: RunningWorker = await startWorker(api.config, log, { mailer });
  const close = () => worker.close();
  return { worker, mailer, lines, close, [Symbol.asyncDispose]: close };
}
const saysRestored = (lines: readonly string[]) => lines.filter((line) => line.includes('made again')).length;

/** The last execution of the reconciler that was noted. */
const lastPass = async () =>
  (await database.db.row<{ run: string }>('select run_id as run from temporal_stores'))?.run ?? null;

/** Lets a worker run until it has noted the store once more. */
async function noted(): Promise<void> {
  const before = await lastPass();
  await using _worker = await aWorker();
  await expect.poll(lastPass).not.toBe(before);
}

/** Has a running worker note the store by executions that no back-up of before knows: one may have been open in it. */
async function notedAnew(): Promise<void> {
  for (let pass = 0; pass < 2; pass += 1) {
    const before = await lastPass();
    await expect
      .poll(
        async () => {
          await reconcileNow(temporal, api.config.TEMPORAL_TASK_QUEUE);
          return lastPass();
        },
        { interval: 500 },
      )
      .not.toBe(before);
  }
}

/** Makes all calls that wait in the outbox. */
async function made(): Promise<void> {
  await expect
    .poll(async () => {
      await api.app.outbox.dispatchDue(100);
      return database.db.rows('select from outbox where done_at is null');
    })
    .toEqual([]);
}
const commit = (start: StartCommand) => database.db.transaction((sql) => enqueue(sql, start));
const stateOf = async (table: string, column: string, id: string) =>
  (await database.db.row<{ state: string }>(`select ${column} as state from ${table} where id = $1`, [id]))?.state;
const runState = async (automation: string) =>
  (
    await database.db.row<{ state: string }>('select status as state from automation_runs where automation_id = $1', [
      automation,
    ])
  )?.state;
const seqOf = async (automation: string) =>
  (await database.db.row<{ seq: number }>('select seq from automation_runs where automation_id = $1', [automation]))
    ?.seq;

/** An automation of these steps with somebody inside. */
async function entered(own: AutomationHand, contactId: string, steps: [type: string, config: object][]) {
  const { id } = await own.automation();
  for (const [type, config] of steps) await own.step(id, type, { ...config });
  await own.enable(id);
  await own.done('POST', `/workflows/${id}/executions`, { contactId });
  return id;
}

/** One piece of work of each kind, begun but not done: its execution is open and no worker runs. Answers how to see its state. */
async function unfinishedWork(project: TestProject): Promise<Record<string, () => Promise<unknown>>> {
  const own = automationHand(api, project);
  const { db } = database;
  const [anna = '', ben = ''] = await Promise.all(
    ['anna', 'ben'].map((name) => own.contact(`${name}-${names++}@example.org`)),
  );
  const delayed = await entered(own, anna, [
    ['DELAY', { amount: 0.02, unit: 'minutes' }],
    ['WEBHOOK', { url: `http://127.0.0.1:${receiver.port}/` }],
    ['EXIT', {}],
  ]);
  const migrated = await entered(own, ben, [['DELAY', { amount: 30, unit: 'days' }]]);
  await own.done('PATCH', `/workflows/${migrated}`, { enabled: false });
  const migration = await own.done('POST', `/workflows/${migrated}/migrate`, { otherwise: { action: 'exit' } });
  const timed = (await own.automation()).id;
  await own.done('PATCH', `/workflows/${timed}`, {
    triggerType: 'SCHEDULE',
    triggerConfig: { schedule: '0 9 * * *', audienceCondition: allOf(dataIs('plan', 'pro')) },
    enabled: true,
  });
  const campaign = await aCampaign(db, project);
  await commit(await started(db, project.id, campaign, 2));
  const later = await aCampaign(db, project);
  await commit(await scheduled(db, project.id, later, 2_000));
  const imported = await uploaded(api, project, `email\nimported-${names++}@example.org\n`);
  await own.done('POST', '/contacts/bulk-unsubscribe', { contactIds: [ben] });
  const [mail] = await queueSystemMails(db, api.config, [
    { kind: 'reset-password', to: 'anna@example.org', language: 'en-US', link: 'https://mail.harbour.test/?token=1' },
  ]);
  const wiped = await aProject(database, 'Gone');
  const { id: wipe } = await deleteProject(db, wiped.id, async () => undefined);
  const message = { to: 'anna@example.org', from: project.sender, subject: 'Hi', body: '<p>Hi</p>' };
  const sent = await own.done('POST', '/v1/send', message);
  const segment = await segmentHand(api, database, project).segment({
    name: `Live ${names++}`,
    condition: allOf(dataIs('plan', 'pro')),
    trackMembership: true,
  });
  await own.done('POST', `/segments/${segment.id}/compute`);
  await own.contact(`carla-${names++}@example.org`, { plan: 'pro' });
  await made();
  return {
    automation: () => runState(delayed),
    migration: () => stateOf('automation_migrations', 'state', migration.id),
    schedule: () => scheduleRevision(temporal, workflowScheduleId(timed)).then((revision) => revision !== null),
    campaign: () => stateOf('campaigns', 'status', campaign),
    'scheduled campaign': () => stateOf('campaigns', 'status', later),
    import: () => stateOf('jobs', 'finished_at is not null and created_count = 1', imported),
    bulk: () => stateOf('contacts', 'subscribed', ben),
    'system mail': () => stateOf('system_mails', 'status', (mail?.workflowId ?? '').slice(-36)),
    wipe: () => stateOf('project_wipes', 'finished_at is not null', wipe),
    delivery: () => stateOf('emails', 'status', sent.data.emails[0].email),
    segment: async () => (await own.done('GET', `/segments/${segment.id}`)).memberCount,
    housekeeping: () => isTemporalSetUp(temporal, api.config.TEMPORAL_TASK_QUEUE),
  };
}
const allDone = {
  automation: 'EXITED',
  migration: 'completed',
  schedule: true,
  campaign: 'SENT',
  'scheduled campaign': 'SENT',
  import: true,
  bulk: false,
  'system mail': 'SENT',
  wipe: true,
  delivery: 'SENT',
  segment: 1,
  housekeeping: true,
};
const statesOf = async (work: Record<string, () => Promise<unknown>>) =>
  Object.fromEntries(await Promise.all(Object.entries(work).map(async ([kind, state]) => [kind, await state()])));
const done = (work: Record<string, () => Promise<unknown>>) =>
  expect.poll(() => statesOf(work), { timeout: 600_000, interval: 500 }).toEqual(allDone);

/** Nobody got a mail of a campaign twice. */
function nobodyTwice(mailer: FakeMailer): void {
  const mails = mailer.taken.map(({ message }) => message.emailId);
  expect(new Set(mails).size).toBe(mails.length);
}

test('a store that was emptied: every kind of work goes on, what migrate made is made again, and that is said once', async () => {
  await noted();
  const work = await unfinishedWork(await aProject(database));
  await store.stop();
  store.wipe();
  await store.start();
  await using running = await aWorker();
  await done(work);
  expect(saysRestored(running.lines)).toBeLessThanOrEqual(1);
  expect(running.lines.filter((line) => line.includes('older than the rows'))).toHaveLength(1);
  expect(running.lines.filter((line) => line.includes('"outbox: '))).toEqual([]);
  nobodyTwice(running.mailer);
});

test('30 days of a pause in which timers pass and the store is emptied: everybody goes on after it, and gets one mail', async () => {
  const project = await aProject(database);
  const own = automationHand(api, project);
  const { db } = database;
  const template = await own.done('POST', '/templates', {
    name: 'Paused',
    subject: 'After the pause',
    body: '<p>Hi</p>',
    from: project.sender,
    type: 'TRANSACTIONAL',
  });
  const { id } = await own.automation();
  await own.step(id, 'DELAY', { amount: 20, unit: 'days' });
  await own.step(id, 'SEND_EMAIL', { templateId: template.id });
  await own.step(id, 'WAIT_FOR_EVENT', { eventName: 'pause.over', timeout: 86_400 });
  await own.enable(id);
  const enter = async (name: string) => {
    const contactId = await own.contact(`${name}-${names++}@example.org`);
    await own.done('POST', `/workflows/${id}/executions`, { contactId });
    return contactId;
  };
  const people = await Promise.all(Array.from({ length: 12 }, (_, n) => enter(`paused-${n}`)));
  const patient = people.pop() ?? '';
  const rowsOf = () =>
    db.rows<{ contact: string; status: string; seq: number }>(
      'select contact_id as contact, status, seq from automation_runs where automation_id = $1 order by id',
      [id],
    );
  const pass = async (days: number) => {
    await db.count(
      `update automation_step_runs x set scheduled_for = x.scheduled_for - make_interval(days => $2)
       from automation_runs r where r.automation_id = $1 and x.run_id = r.id and x.status = 'SCHEDULED'`,
      [id, days],
    );
    await db.count(`update automation_runs set due_at = due_at - make_interval(days => $2) where automation_id = $1`, [
      id,
      days,
    ]);
  };
  {
    await using _worker = await aWorker();
    await expect.poll(async () => (await rowsOf()).map(({ seq }) => seq)).toEqual(Array(12).fill(2));
  }
  // One has longer to wait than the pause is.
  await db.count(
    `with run as (update automation_runs set due_at = due_at + interval '20 days' where automation_id = $1 and contact_id = $2 returning id)
     update automation_step_runs x set scheduled_for = x.scheduled_for + interval '20 days' from run where x.run_id = run.id and x.status = 'SCHEDULED'`,
    [id, patient],
  );
  await own.done('POST', `/workflows/${id}/pause`);
  await pass(15);
  await made();
  await store.stop();
  store.wipe();
  await store.start();
  const mailer = new FakeMailer({ name: 'paused' });
  await using running = await aWorker(mailer);
  await running.worker.ready;
  // The timers pass in a store that knows of no execution; housekeeping finds them due, and none of them may go on.
  await pass(15);
  await notedAnew();
  await notedAnew();
  expect((await rowsOf()).map(({ seq }) => seq)).toEqual(Array(12).fill(2));
  expect(mailer.taken).toEqual([]);

  await own.done('POST', `/workflows/${id}/resume`);
  await expect
    .poll(async () => (await rowsOf()).filter(({ contact, seq }) => contact !== patient && seq === 4).length)
    .toBe(people.length);
  await expect.poll(() => mailer.taken.length).toBe(people.length);
  expect((await rowsOf()).find(({ contact }) => contact === patient)).toMatchObject({ seq: 2 });
  expect(
    await db.rows(
      'select from emails where workflow_execution_id in (select id from automation_runs where automation_id = $1)',
      [id],
    ),
  ).toHaveLength(people.length);
  nobodyTwice(mailer);
});

test('executions that an operator terminated: every kind of work goes on from its rows', async () => {
  const work = await unfinishedWork(await aProject(database));
  for await (const { workflowId: id } of temporal.client.workflow.list({ query: `ExecutionStatus = 'Running'` }))
    if (!id.startsWith('temporal-sys-scheduler:')) await temporal.client.workflow.getHandle(id).terminate('by hand');
  for (const table of ['campaigns', 'campaign_sends', 'jobs', 'system_mails', 'project_wipes', 'automation_migrations'])
    await database.db.count(`update ${table} set updated_at = now() - interval '1 hour'`);
  await database.db.count(`update automation_runs set due_at = now() - interval '1 hour' where due_at < now()`);
  await using running = await aWorker();
  await done(work);
  expect(running.lines.filter((line) => line.includes('older than the rows'))).toEqual([]);
  nobodyTwice(running.mailer);
});

test('a store that is older than the rows: open executions that wait for what has happened go on', async () => {
  const project = await aProject(database);
  const own = automationHand(api, project);
  const { db } = database;
  const waits = async (name: string) =>
    entered(own, await own.contact(`${name}-${names++}@example.org`), [
      ['WAIT_FOR_EVENT', { eventName: `${name}.paid` }],
      ['DELAY', { amount: 1, unit: 'hours' }],
      ['EXIT', {}],
    ]);
  const track = async (automation: string, name: string) => {
    const row = await db.row<{ email: string }>(
      'select c.email from automation_runs r join contacts c on c.id = r.contact_id where r.automation_id = $1',
      [automation],
    );
    const body = { email: row?.email, event: `${name}.paid` };
    expect((await api.call(project.publicKey, 'POST', '/v1/track', body)).status).toBe(200);
  };
  const [behind, unheard, vanished] = await Promise.all([waits('behind'), waits('unheard'), waits('vanished')]);
  const paused = await aCampaign(db, project);
  const pausedStart = await started(db, project.id, paused, 3);
  await setPaused(db, paused, 1, true);
  await commit(pausedStart);
  const early = await aCampaign(db, project);
  await commit(await scheduled(db, project.id, early, 3_600_000));
  {
    await using _first = await aWorker();
    for (const id of [behind, unheard, vanished]) await expect.poll(() => runState(id)).toBe('WAITING');
    const phase = (id: string) => temporal.client.workflow.getHandle(id).query<{ phase: string }>('progress');
    await expect.poll(async () => (await phase(workflowId.campaign(paused, 1))).phase).toBe('paused');
    await expect.poll(async () => (await phase(workflowId.campaign(early, 1))).phase).toBe('scheduled');
  }
  await made();
  await store.stop();
  store.backUp();
  await store.start();
  {
    // What the back-up does not know: one has moved on to its delay.
    await using _second = await aWorker();
    await track(behind, 'behind');
    await expect.poll(() => seqOf(behind)).toBe(3);
    await notedAnew();
  }
  // The event of another one has come and its signal was taken; a third one's execution is gone as well.
  await track(unheard, 'unheard');
  await track(vanished, 'vanished');
  await setPaused(db, paused, 1, false);
  const due = await scheduled(db, project.id, early, -120_000);
  await made();
  await store.stop();
  store.restore();
  await store.start();
  const gone = await db.row<{ id: string }>(
    `select 'automation/' || automation_id || '/' || contact_id || '/' || entry as id from automation_runs where automation_id = $1`,
    [vanished],
  );
  await temporal.client.workflow.getHandle(gone?.id ?? '').terminate('lost');
  const passTime = (automation: string) =>
    db.rows(
      `with run as (update automation_runs set due_at = now() - make_interval(secs => 1) where automation_id = $1 returning id)
       update automation_step_runs x set scheduled_for = now() from run where x.run_id = run.id and x.status = 'SCHEDULED'`,
      [automation],
    );
  await passTime(behind);
  await using running = await aWorker();
  await expect.poll(() => runState(behind)).toBe('EXITED');
  for (const id of [unheard, vanished]) await expect.poll(() => seqOf(id)).toBe(3);
  for (const id of [paused, early]) await expect.poll(async () => (await campaignRow(db, id)).status).toBe('SENT');
  expect(running.lines.filter((line) => line.includes('older than the rows'))).toHaveLength(1);
  expect(await reviveCampaign(db, due.id)).toBeNull();
  nobodyTwice(running.mailer);
});

test('a store that is swapped for an older one while workers and API run: they go on with it', async () => {
  const project = await aProject(database);
  const own = automationHand(api, project);
  await using running = await aWorker();
  await running.worker.ready;
  const waits = async (name: string) => {
    const contact = await own.contact(`${name}-${names++}@example.org`);
    const automation = await entered(own, contact, [
      ['WAIT_FOR_EVENT', { eventName: 'live.paid' }],
      ['WAIT_FOR_EVENT', { eventName: 'live.shipped' }],
      ['EXIT', {}],
    ]);
    await expect.poll(() => runState(automation)).toBe('WAITING');
    return { automation, contact };
  };
  const [atOnce, afterwards] = [await waits('at-once'), await waits('afterwards')];
  await store.stop();
  store.backUp();
  await store.start();
  const track = async ({ contact }: typeof atOnce, event: string) => {
    const email = (await own.done('GET', `/contacts/${contact}`)).email;
    expect((await api.call(project.publicKey, 'POST', '/v1/track', { email, event })).status).toBe(200);
  };
  for (const run of [atOnce, afterwards]) {
    await track(run, 'live.paid');
    await expect.poll(() => seqOf(run.automation)).toBe(3);
  }
  await notedAnew();
  const changedAt = async () =>
    (await database.db.row<{ at: string | null }>('select changed_at::text as at from temporal_stores'))?.at;
  const before = await changedAt();
  await store.stop();
  store.restore();
  await store.start();
  await track(atOnce, 'live.shipped');
  await expect
    .poll(async () => {
      await reconcileNow(temporal, api.config.TEMPORAL_TASK_QUEUE);
      return changedAt();
    })
    .not.toBe(before);
  // The worker has not forgotten what it remembers of this execution, so it may pass over the signal.
  await track(afterwards, 'live.shipped');
  for (const { automation } of [atOnce, afterwards])
    await expect.poll(() => runState(automation), { timeout: 600_000 }).toBe('EXITED');
  // An emptied one under the same processes.
  await store.stop();
  store.wipe();
  await store.start();
  const project2 = await aProject(database);
  const work = await unfinishedWork(project2);
  await done(work);
  expect(saysRestored(running.lines)).toBeLessThanOrEqual(1);
});

test('a server of another version in the middle of a campaign, and back: the store is set aside, and all work goes on', async (context) => {
  const { older, newer } = await twoVersions(context);
  const { db } = database;
  const recipients = 60;
  const asides = () => readdirSync(dirname(store.databaseFile)).filter((name) => /^temporal\.db\.[\d-]+$/.test(name));
  await store.stop();
  store.wipe();
  await store.start(older);
  for (const [n, next] of [newer, older].entries()) {
    const project = await aProject(database);
    const own = automationHand(api, project);
    await contacts(db, project.id, recipients);
    const campaign = await aCampaign(db, project);
    await commit(await started(db, project.id, campaign, recipients));
    const delayed = await entered(own, await own.contact(`waiting-${names++}@example.org`), [
      ['DELAY', { amount: 0.05, unit: 'minutes' }],
      ['EXIT', {}],
    ]);
    const mailer = new FakeMailer({ name: `versions-${n}`, maxBatchMessages: 5 });
    mailer.onTaken = () => {
      // From here on the provider is down, so the campaign stays half sent.
      if (mailer.taken.length >= recipients / 3) mailer.options.outages = Number.POSITIVE_INFINITY;
    };
    {
      await using _before = await aWorker(mailer);
      await expect.poll(() => mailer.options.outages).toBeGreaterThan(0);
      await notedAnew();
    }
    expect(mailer.taken.length).toBeLessThan(recipients);
    expect((await campaignRow(db, campaign)).status).toBe('SENDING');
    await store.stop();
    await store.start(next);
    expect(asides()).toHaveLength(n + 1);
    mailer.onTaken = () => undefined;
    mailer.options.outages = 0;
    await using running = await aWorker(mailer);
    await expect.poll(async () => (await campaignRow(db, campaign)).status, { timeout: 600_000 }).toBe('SENT');
    await expect.poll(() => runState(delayed)).toBe('EXITED');
    expect(new Set(mailer.recipients).size).toBe(recipients);
    nobodyTwice(running.mailer);
  }
});

test('an API alone makes what an empty store lacks, and writes one line however many calls wait', async () => {
  await using fresh = await testDatabase();
  await store.stop();
  store.wipe();
  await store.start();
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => lines.push(line) });
  const config = { ...api.config, DATABASE_URL: fresh.url, TEMPORAL_TASK_QUEUE: 'alone', PORT: 0 };
  await using running = await startApi(config, log);
  const starts = Array.from({ length: 40 }, (_, n): StartCommand => {
    const id = `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
    return {
      type: 'start',
      workflow: 'systemMail',
      id: workflowId.systemMail(id),
      input: { mailId: id },
      searchAttributes: { Kind: 'system-mail' },
    };
  });
  running.app.outbox.dispatchSoon(...(await fresh.db.transaction((sql) => enqueueAll(sql, starts))));
  await expect
    .poll(async () => {
      await running.app.outbox.dispatchDue(100);
      return fresh.db.rows('select from outbox where done_at is null');
    })
    .toEqual([]);
  // Calls go through as soon as their search attributes are there; schedules are made after those.
  await expect.poll(() => isTemporalSetUp(temporal, 'alone')).toBe(true);
  await expect.poll(() => saysRestored(lines)).toBe(1);
  // A line when Temporal is lost and one when it is back, by turns: where it is slow, that may be more than once.
  const told = lines.filter((line) => line.includes('"outbox: ')).map((line) => JSON.parse(line));
  const isBack = told.map(({ msg }) => msg === 'outbox: Temporal is back');
  expect(isBack, JSON.stringify(told)).toEqual(told.map((_line, index) => index % 2 === 1));
  expect(told.every(({ msg }, index) => isBack[index] || msg.endsWith('starts when Temporal is back'))).toBe(true);
});
