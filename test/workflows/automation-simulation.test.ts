import { Socket } from 'node:net';
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { simulateSome } from '../../src/automations/simulation/job.ts';
import { changeContacts } from '../../src/imports/bulk.ts';
import { finishJob } from '../../src/imports/queries.ts';
import type { Database } from '../../src/store/sql.ts';
import { queueKinds, taskQueue, workflowId } from '../../temporal/commands.ts';
import { aProject, type TestApi, testApi } from '../support/api.ts';
import { type AutomationHand, automationHand } from '../support/automations.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { jobsWorker, testSimulations } from '../support/jobs.ts';
import { startReceiver } from '../support/receiver.ts';
import { addresses, allOf, dataIs } from '../support/segments.ts';
import { jobDone } from '../support/uploads.ts';
import type { TestWorker } from '../support/worker.ts';

let database: TestDatabase;
let db: Database;
let worker: TestWorker;
let api: TestApi;
let project: Awaited<ReturnType<typeof aProject>>;
let own: AutomationHand;
let template: string;
const people: string[] = [];
const from = new Date(Date.now() - 60 * 86_400_000).toISOString();
const until = new Date(Date.now() - 30 * 86_400_000).toISOString();
const over = { event: { from, until } };

beforeAll(async () => {
  database = await testDatabase();
  db = database.db;
  worker = await jobsWorker(database, { longestMs: 0 });
  api = await testApi(database, { TEMPORAL_TASK_QUEUE: worker.queuePrefix });
  project = await aProject(database);
  own = automationHand(api, project);
  template = await own.template();
  for (const [n, email] of addresses(7).entries())
    people.push(await own.contact(email, { plan: n < 5 ? 'pro' : 'free' }));
  await db.count(`update contacts set created_at = created_at - interval '100 days'`);
  await db.count(`update mikro_orm_migrations set executed_at = executed_at - interval '100 days'`);
  await db.count(`update projects set updated_at = updated_at - interval '100 days'`);
  await db.count('delete from contact_changes');
});
afterAll(async () => {
  await api.close();
  await worker.stop();
  await database.close();
});

/** Records events of contacts, so many hours after the beginning of the time. */
async function happened(name: string, events: readonly (readonly [person: number, hour: number, data?: object])[]) {
  for (const [person, hour, data = {}] of events)
    await db.count(
      `insert into events (id, project_id, contact_id, name, data, created_at)
       values (uuidv7(), $1, $2, $3, $4, $5::timestamptz + make_interval(secs => $6))`,
      [project.id, people[person], name, JSON.stringify(data), from, hour * 3_600],
    );
}

const simulate = (id: string, body: object) => own.call('POST', `/workflows/${id}/simulations`, body);
async function result(id: string, body: object) {
  const queued = await simulate(id, body);
  expect(queued).toMatchObject({ status: 202, body: { jobId: expect.stringContaining('simulation-') } });
  const path = `/workflows/${id}/simulations/${queued.body.jobId}`;
  const { result: found } = await jobDone(api, project, path);
  const listed = async (filter: string) => {
    const page = await own.done('GET', `${path}/contacts?${filter}`);
    return page.data.map(({ contactId }: { contactId: string }) => people.indexOf(contactId));
  };
  return { path, listed, ...found };
}

/** A workflow that mails, waits for an order for two days, and mails those who did not order. */
async function reminder(event: string) {
  const { id, trigger } = await own.automation({ eventName: event });
  const welcome = await own.step(id, 'SEND_EMAIL', { templateId: template }, { templateId: template, name: 'Welcome' });
  const wait = await own.step(id, 'WAIT_FOR_EVENT', { eventName: 'order', timeout: 172_800 }, { name: 'Order?' });
  const remind = await own.step(id, 'SEND_EMAIL', {}, { templateId: template, name: 'Remind', autoConnect: false });
  const never = await own.step(id, 'EXIT', {}, { name: 'Never', autoConnect: false });
  await own.connect(id, wait, remind, { waitOutcome: 'TIMEOUT' });
  return { id, trigger, welcome, wait, remind, never };
}

const rowsOf = async () =>
  Promise.all(
    [
      'emails',
      'email_queue',
      'events',
      'contacts',
      'contact_changes',
      'automation_runs',
      'automation_step_runs',
      'automation_goals',
      'automation_arrivals',
    ].map(
      async (table) =>
        (await db.row(`select count(*)::int as rows, coalesce(max(t::text), '') as last from ${table} t`)) ?? {},
    ),
  );

test('contacts of an event go through the graph in their own time, and nothing is sent, called or written', async () => {
  const { id, welcome, wait, remind, never } = await reminder('signed.up');
  await own.step(id, 'WEBHOOK', { url: 'http://127.0.0.1:9/never' }, { fromStepId: remind });
  await happened('signed.up', [
    [0, 1],
    [1, 2],
    [2, 3],
    [0, 30],
  ]);
  await happened('order', [
    [1, 4],
    [2, 3 + 48 + 1],
  ]);
  const before = await rowsOf();
  const found = await result(id, { over, horizon: '40h' });
  expect(await rowsOf()).toEqual(before);
  expect(await db.rows(`select id from outbox where workflow_type <> 'bulkContacts'`)).toEqual([]);
  expect(found).toMatchObject({ contacts: 3, more: false, gone: 0, executions: 3, comparison: null, unknown: [] });
  expect(found).toMatchObject({ ends: { COMPLETED: 1, EXITED: 0, FAILED: 0, INSIDE: 2 }, refused: { reentry: 1 } });
  const long = await result(id, { over, horizon: '4d' });
  expect(long.ends).toEqual({ COMPLETED: 3, EXITED: 0, FAILED: 0, INSIDE: 0 });
  expect(long.refused).toEqual({ reentry: 1 });
  const counts = Object.fromEntries(long.steps.map((step: { stepId: string }) => [step.stepId, step]));
  expect(counts[welcome]).toMatchObject({ name: 'Welcome', reached: 3, paths: { next: 3 } });
  expect(counts[wait]).toMatchObject({ reached: 3, paths: { EVENT: 1, TIMEOUT: 2 } });
  expect(counts[remind]).toMatchObject({ reached: 2 });
  expect(long.neverReached).toEqual([never]);
  expect(long.mails).toMatchObject({ count: 5, skipped: {}, timeZone: 'UTC' });
  const hours = long.mails.byDay.flatMap(({ day, byHour }: { day: string; byHour: number[] }) =>
    byHour.flatMap((mails, hour) => (mails === 0 ? [] : [[`${day}T${String(hour).padStart(2, '0')}`, mails]])),
  );
  const at = (hour: number) => new Date(Date.parse(from) + hour * 3_600_000).toISOString().slice(0, 13);
  expect(hours).toEqual([1, 2, 3, 49, 51].map((hour) => [at(hour), 1]));
  expect(await long.listed('')).toEqual([0, 1, 2]);
  expect(await long.listed(`stepId=${remind}`)).toEqual([0, 2]);
  expect(await long.listed(`stepId=${wait}&path=EVENT`)).toEqual([1]);
  expect(await found.listed('end=INSIDE')).toEqual([0, 2]);
  const first = await own.done('GET', `${long.path}/contacts?limit=2`);
  const rest = await own.done('GET', `${long.path}/contacts?limit=2&cursor=${first.cursor}`);
  expect([first.data.length, rest.data.length, rest.cursor]).toEqual([2, 1, null]);
  const none = await result(id, { over, horizon: '4d', futures: 'none' });
  expect(none.steps.find(({ stepId }: { stepId: string }) => stepId === wait).paths).toEqual({ TIMEOUT: 3 });
  // The same request is answered by the same bytes.
  const once = await own.done('GET', long.path);
  const twice = await own.done('GET', (await result(id, { over, horizon: '4d' })).path);
  expect(JSON.stringify(twice.result)).toBe(JSON.stringify(once.result));
});

/** Notes the ports that this process connects to, by whatever library: those of a mail server or of a provider as well. */
function listening() {
  const ports = new Set<number>();
  const connect = Socket.prototype.connect;
  const spy = vi.spyOn(Socket.prototype, 'connect').mockImplementation(function (this: Socket, ...args: unknown[]) {
    this.once('connect', () => ports.add(this.remotePort ?? 0)).once('error', () => ports.add(this.remotePort ?? 0));
    return Reflect.apply(connect, this, args);
  });
  return { ports, [Symbol.dispose]: () => spy.mockRestore() };
}

test('while a simulation runs no socket is opened to anybody, and no other workflow begins', async () => {
  await using receiver = await startReceiver();
  const { id, remind } = await reminder('silent');
  const call = await own.step(id, 'WEBHOOK', { url: `http://127.0.0.1:${receiver.port}/hook` }, { fromStepId: remind });
  await happened('silent', [
    [3, 1],
    [4, 2],
  ]);
  const began = new Date().toISOString();
  const { client, queuePrefix } = worker;
  const others = [database.url, api.url, `http://${inject('temporalAddress')}`].map((url) => Number(new URL(url).port));
  const before = await rowsOf();
  using sockets = listening();
  const { path, mails, steps } = await result(id, { over, horizon: '4d' });
  expect([mails.count, steps.find(({ stepId }: { stepId: string }) => stepId === call).reached]).toEqual([4, 2]);
  expect([...sockets.ports].filter((port) => !others.includes(port))).toEqual([]);
  expect(receiver.requests).toEqual([]);
  expect(await rowsOf()).toEqual(before);
  expect(await db.rows(`select id from outbox where workflow_type <> 'bulkContacts' or done_at is null`)).toEqual([]);
  const started = async () => {
    // Memos of other tests on this server may be encrypted.
    const queues = queueKinds.map((kind) => `'${taskQueue(queuePrefix, kind)}'`).join(', ');
    const query = `StartTime >= '${began}' and TaskQueue in (${queues})`;
    const found: string[] = [];
    for await (const { workflowId } of client.workflow.list({ query })) found.push(workflowId);
    return found;
  };
  const jobId = path.split('/').at(-1);
  await expect.poll(started).toEqual([expect.stringContaining(jobId)]);
  // Whoever connects is noticed.
  await fetch(`http://127.0.0.1:${receiver.port}/`);
  expect([...sockets.ports]).toContain(receiver.port);
});

test('a graph that is not saved is compared with a version: who gets an email only here, only there, earlier or later', async () => {
  const { id, trigger } = await own.automation({ eventName: 'trial.began' });
  await own.step(id, 'DELAY', { amount: 2, unit: 'days' });
  await own.step(id, 'SEND_EMAIL', { templateId: template }, { templateId: template });
  await own.enable(id);
  await own.done('POST', `/workflows/${id}/executions`, { contactId: people[6] });
  const other = await own.template('Other');
  await happened('trial.began', [
    [0, 1],
    [5, 2],
  ]);
  const step = (name: string, type: string, config: object, templateId: string | null = null) => ({
    id: name,
    type,
    name,
    position: { x: 0, y: 0 },
    config,
    templateId,
  });
  const graph = {
    steps: [
      { ...step('Began', 'TRIGGER', { eventName: 'trial.began' }), id: trigger },
      step('split', 'SPLIT', {
        branches: [
          { id: 'a', percent: 50 },
          { id: 'b', percent: 50 },
        ],
      }),
      step('day', 'DELAY', { amount: 1, unit: 'days' }),
      step('sooner', 'SEND_EMAIL', {}, template),
      step('new', 'SEND_EMAIL', {}, other),
    ],
    transitions: [
      { fromStepId: trigger, toStepId: 'split' },
      { fromStepId: 'split', toStepId: 'day', branch: 'a' },
      { fromStepId: 'split', toStepId: 'day', branch: 'b' },
      { fromStepId: 'day', toStepId: 'sooner' },
      { fromStepId: 'sooner', toStepId: 'new' },
    ],
  };
  const found = await result(id, { graph, over, horizon: '10d', compareWith: 1 });
  expect(found.steps.map(({ stepId }: { stepId: string }) => stepId)).toEqual([
    trigger,
    'split',
    'day',
    'sooner',
    'new',
  ]);
  expect(found.comparison).toMatchObject({ with: 1, agreement: null, counts: { executions: 2, mails: { count: 2 } } });
  const differing = new Map(found.comparison.mails.map((mail: { templateId: string }) => [mail.templateId, mail]));
  expect(differing.get(template)).toEqual({
    templateId: template,
    same: 0,
    onlyHere: 0,
    onlyThere: 0,
    earlier: 2,
    later: 0,
  });
  expect(differing.get(other)).toMatchObject({ onlyHere: 2 });
  expect(found.collisions.within24Hours).toEqual({ mails: 2, contacts: 2 });
  expect(await found.listed('mail=onlyHere')).toEqual([0, 5]);
  expect(await found.listed('mail=later')).toEqual([]);
  expect(await found.listed('stepId=sooner&collision=within24Hours')).toEqual([0, 5]);
  const { data } = await own.done('GET', `${found.path}/contacts`);
  expect(data[0]).toMatchObject({
    executions: [{ stepId: 'new', mails: [{ stepId: 'sooner' }, { stepId: 'new' }] }],
    compared: [{}],
  });
  // A split sends a contact the same way each time, also in a step without an ID.
  const again = await result(id, { graph, over, horizon: '10d', compareWith: 1 });
  expect(JSON.stringify(again.steps)).toBe(JSON.stringify(found.steps));
});

test('a contact is as of then: its data, its subscription, and what it had done', async () => {
  const { id } = await own.automation({ eventName: 'as.of' });
  const seen = await own.step(id, 'CONDITION', {
    mode: 'tree',
    condition: {
      logic: 'AND',
      groups: [
        {
          filters: [
            { field: 'data.plan', operator: 'equals', value: 'pro' },
            { field: 'event.order', operator: 'triggered' },
          ],
        },
      ],
    },
  });
  await happened('as.of', [
    [2, 100],
    [3, 100],
    [4, 100],
    [5, 100],
  ]);
  await happened('order', [
    [2, 99],
    [3, 99],
    [4, 101],
    [5, 98],
  ]);
  // Of three contacts the last was pro until ten days ago.
  await db.count(
    `insert into contact_history (contact_id, at, project_id, cause, before, after, subscribed_before, subscribed_after)
     values ($1, now() - interval '10 days', $2, '{"type": "api"}', '{"plan": "pro"}', '{"plan": "free"}', true, true)`,
    [people[5], project.id],
  );
  // And the first became pro by the workflow itself, as soon as it had entered.
  await db.count(
    `insert into contact_history (contact_id, at, project_id, cause, before, after, subscribed_before, subscribed_after)
     select contact_id, created_at + interval '45 milliseconds', project_id, jsonb_build_object('type', 'step', 'id', $2::text),
       '{"plan": "free"}', '{"plan": "pro"}', true, true
     from events where contact_id = $1 and name = 'as.of'`,
    [people[2], id],
  );
  const { steps } = await result(id, { over });
  expect(steps.find(({ stepId }: { stepId: string }) => stepId === seen).paths).toEqual({ no: 2, yes: 2 });
});

test('a share that is repeated, or dies, counts nobody twice', async () => {
  const { id } = await reminder('killed');
  await happened('killed', [
    [0, 1],
    [1, 2],
    [2, 3],
    [3, 4],
  ]);
  const expected = await result(id, { over, horizon: '4d' });
  const { body } = await simulate(id, { over, horizon: '4d' });
  await jobDone(api, project, `/workflows/${id}/simulations/${body.jobId}`);
  // From the first step on, by a worker that is killed before and after its commits, beside another one.
  await db.count(
    `update jobs set state = 'active', position = 0, place = '{}', finished_at = null, total_count = 0, updated_count = 0 where id = $1`,
    [body.jobId],
  );
  await db.count('delete from simulated_contacts where job_id = $1', [body.jobId]);
  const dying = (at: number, after: 'commit' | 'work'): Database => {
    let transactions = 0;
    return {
      ...db,
      async transaction(work) {
        const isLast = ++transactions === at;
        const done = await db.transaction(async (tx) => {
          const made = await work(tx);
          if (isLast && after === 'work') throw new Error('killed');
          return made;
        });
        if (isLast) throw new Error('killed');
        return done;
      },
    };
  };
  const share = () => ({ stop: new AbortController().signal, longestMs: 600_000, onStep() {} });
  const go = (store: Database) =>
    changeContacts(store, body.jobId, share(), null, (each, job, position) =>
      simulateSome(each, testSimulations, job, position),
    );
  for (const [at, after] of [
    [1, 'work'],
    [1, 'commit'],
    [1, 'work'],
    [1, 'commit'],
  ] as const)
    await expect(go(dying(at, after))).rejects.toThrow('killed');
  await Promise.all([go(db), go(db)]);
  const { result: found } = await own.done('GET', `/workflows/${id}/simulations/${body.jobId}`);
  const { path: _, listed: __, ...rest } = expected;
  expect(found).toEqual(rest);
});

test('a request names its field, another project is not there, and three run at a time', async () => {
  const { id } = await reminder('limits');
  const fieldOf = async (body: object) => {
    const { status, body: answer } = await simulate(id, body);
    return [status, JSON.stringify(answer).match(/"field":"([^"]+)"/)?.[1]];
  };
  const year = new Date(Date.parse(from) - 400 * 86_400_000).toISOString();
  expect(await fieldOf({})).toEqual([422, 'over']);
  expect(await fieldOf({ over: {} })).toEqual([422, 'over.event']);
  expect(await fieldOf({ over: { event: { from: until, until: from } } })).toEqual([422, 'over.event']);
  expect(await fieldOf({ over: { event: { from: year, until } } })).toEqual([422, 'over.event']);
  expect(await fieldOf({ over: { ...over, at: from } })).toEqual([422, 'over.at']);
  expect(await fieldOf({ over, most: 10_001 })).toEqual([422, 'most']);
  expect(await fieldOf({ over, horizon: '366d' })).toEqual([422, 'horizon']);
  expect(await fieldOf({ over, futures: 'all' })).toEqual([422, 'futures']);
  expect(await fieldOf({ over, compareWith: 'then' })).toEqual([422, 'compareWith']);
  const many = Array.from({ length: 10_001 }, () => crypto.randomUUID());
  expect(await fieldOf({ over: { contactIds: many } })).toEqual([422, 'over.contactIds']);
  expect((await simulate(id, { over, version: 7 })).status).toBe(404);
  expect((await simulate(id, { over, compareWith: 7 })).status).toBe(404);
  const graph = { steps: [], transitions: [] };
  expect((await simulate(id, { over, graph })).status).toBe(422);
  expect(await fieldOf({ over, graph, version: 1 })).toEqual([422, 'version']);
  const { id: byHand } = await own.automation({ triggerType: 'MANUAL' });
  const manual = await simulate(byHand, { over });
  expect([manual.status, manual.body.error.errors[0].field]).toEqual([422, 'over.event']);
  const foreign = automationHand(api, await aProject(database));
  const theirs = await foreign.contact('theirs@example.com');
  expect((await simulate(id, { over: { contactIds: [people[0], theirs] } })).status).toBe(404);
  const segment = await foreign.done('POST', '/segments', {
    name: 'Theirs',
    type: 'DYNAMIC',
    condition: allOf(dataIs('plan', 'pro')),
  });
  expect((await simulate(id, { over: { segmentId: segment.id } })).status).toBe(404);
  expect((await foreign.call('POST', `/workflows/${id}/simulations`, { over })).status).toBe(404);
  const done = await result(id, { over });
  expect((await foreign.call('GET', done.path)).status).toBe(404);
  expect((await foreign.call('GET', `${done.path}/contacts`)).status).toBe(404);
  expect((await own.call('GET', done.path.replace(id, byHand))).status).toBe(404);
  expect((await own.call('GET', `/contacts/bulk/${done.path.split('/').at(-1)}`)).status).toBe(404);
  expect((await own.call('GET', `${done.path}/contacts?cursor=x`)).status).toBe(400);
  expect((await own.done('GET', '/contacts/jobs')).data).toEqual([]);
  for (let n = 0; n < 3; n += 1)
    await db.count(
      `insert into jobs (id, project_id, kind, spec) values ('simulation-' || gen_random_uuid(), $1, 'simulation', '{}')`,
      [project.id],
    );
  expect((await simulate(id, { over })).status).toBe(409);
  await db.count(`delete from jobs where spec = '{}'`);
});

test('members of a segment, and contacts by ID, enter at one instant', async () => {
  const { id, remind } = await reminder('of.nobody');
  await happened('order', [[0, 700]]);
  const segment = await own.done('POST', '/segments', {
    name: 'Pros',
    type: 'DYNAMIC',
    condition: allOf(dataIs('plan', 'pro')),
  });
  const found = await result(id, { over: { segmentId: segment.id }, futures: 'none', horizon: '90d' });
  expect(found).toMatchObject({ contacts: 5, executions: 5, ends: { COMPLETED: 5 } });
  const at = new Date(Date.parse(from) + 690 * 3_600_000).toISOString();
  const chosen = await result(id, { over: { contactIds: people.slice(0, 2), at }, horizon: '4d' });
  expect(await chosen.listed(`stepId=${remind}`)).toEqual([1]);
  expect(await own.done('GET', chosen.path)).toMatchObject({ at });
  expect(await result(id, { over: { contactIds: people }, most: 3, futures: 'none' })).toMatchObject({
    contacts: 3,
    more: true,
  });
});

test('a simulation is canceled once, whatever works on it: nothing of it is kept, and nobody writes more', async () => {
  const { id } = await reminder('canceled');
  await happened('canceled', [
    [0, 1],
    [1, 2],
  ]);
  const done = await result(id, { over, horizon: '4d' });
  // One that has ended stays as it is.
  expect(await own.done('DELETE', done.path)).toMatchObject({ state: 'completed', result: { contacts: 2 } });
  const jobId = done.path.split('/').at(-1);
  const rows = () => db.rows('select n from simulated_contacts where job_id = $1', [jobId]);
  await db.count(
    `update jobs set state = 'active', position = 0, place = '{}', progress = 0, finished_at = null, total_count = 0, updated_count = 0 where id = $1`,
    [jobId],
  );
  await db.count('delete from simulated_contacts where job_id = $1', [jobId]);
  const share = () => ({ stop: new AbortController().signal, longestMs: 600_000, onStep() {} });
  let transactions = 0;
  let seen: unknown = null;
  // It comes after contacts were simulated, and before they are written.
  const meanwhile: Database = {
    ...db,
    async transaction(work) {
      transactions += 1;
      if (transactions === 2) {
        expect(await rows()).toHaveLength(2);
        seen = await own.done('DELETE', done.path);
      }
      return db.transaction(work);
    },
  };
  const go = (store: Database) =>
    changeContacts(store, jobId ?? '', share(), null, (each, job, position) =>
      simulateSome(each, testSimulations, job, position),
    );
  expect((await go(meanwhile)).state).toBe('superseded');
  expect(seen).toMatchObject({ id: jobId, state: 'canceled', failedReason: null, result: null });
  expect(await own.done('DELETE', done.path)).toEqual(seen);
  expect(await own.done('GET', done.path)).toEqual(seen);
  expect(await rows()).toEqual([]);
  expect((await own.done('GET', `${done.path}/contacts`)).data).toEqual([]);
  expect((await go(db)).state).toBe('finished');
  expect(await own.done('GET', done.path)).toEqual(seen);
  const foreign = automationHand(api, await aProject(database));
  expect((await foreign.call('DELETE', done.path)).status).toBe(404);
  expect((await own.call('DELETE', done.path.replace(id, crypto.randomUUID()))).status).toBe(404);
});

test('a simulation that fails is not canceled, whatever its reason says', async () => {
  const { id } = await reminder('fails');
  const [job] = await db.rows<{ id: string }>(
    `insert into jobs (id, project_id, kind, spec) values ('simulation-' || gen_random_uuid(), $1, 'simulation', $2) returning id`,
    [project.id, JSON.stringify({ workflowId: id, names: {}, at: null })],
  );
  await finishJob(db, job?.id ?? '', 'Canceled');
  expect(await own.done('GET', `/workflows/${id}/simulations/${job?.id}`)).toMatchObject({
    state: 'failed',
    failedReason: 'Canceled',
    result: null,
  });
});

test('the execution of a simulation that is canceled ends', async () => {
  const { id } = await reminder('ends');
  const { body } = await simulate(id, { over: { contactIds: people }, futures: 'none' });
  const path = `/workflows/${id}/simulations/${body.jobId}`;
  const { state } = await own.done('DELETE', path);
  // It may have been as quick.
  expect(['canceled', 'completed']).toContain(state);
  const ended = await worker.result<{ state: string }>(workflowId.bulk(body.jobId));
  expect(['cancelled', 'finished']).toContain(ended.state);
  expect(await own.done('GET', path)).toMatchObject({ state });
});
