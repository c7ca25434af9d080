import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { enrollPast, enrollSome, pageOfEvents } from '../../src/automations/enrollment/past.ts';
import { changeContacts, type Enrolling } from '../../src/imports/bulk.ts';
import { leastId } from '../../src/lib/ids.ts';
import { type Database, sql } from '../../src/store/sql.ts';
import { aProject, type TestApi, testApi } from '../support/api.ts';
import { type AutomationHand, automationHand } from '../support/automations.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { jobsWorker } from '../support/jobs.ts';
import { addresses, allOf, dataIs } from '../support/segments.ts';
import { jobDone } from '../support/uploads.ts';
import type { TestWorker } from '../support/worker.ts';

let database: TestDatabase;
let db: Database;
let worker: TestWorker;
let api: TestApi;
let project: Awaited<ReturnType<typeof aProject>>;
let own: AutomationHand;
const people: string[] = [];
const since = '2026-03-01T00:00:00.000Z';

beforeAll(async () => {
  database = await testDatabase();
  db = database.db;
  worker = await jobsWorker(database, { longestMs: 0 });
  api = await testApi(database, { TEMPORAL_TASK_QUEUE: worker.queuePrefix });
  project = await aProject(database);
  own = automationHand(api, project);
  for (const [n, email] of addresses(7).entries())
    people.push(await own.contact(email, { plan: n < 5 ? 'pro' : 'free' }));
});
afterAll(async () => {
  await api.close();
  await worker.stop();
  await database.close();
});

const pro = allOf(dataIs('plan', 'pro'));

async function enabled(body: Record<string, unknown> = {}): Promise<string> {
  const { id } = await own.automation(body);
  await own.step(id, 'DELAY', { amount: 1, unit: 'days' });
  await own.enable(id);
  return id;
}
const enroll = (id: string, body: object) => own.call('POST', `/workflows/${id}/enroll`, body);
const runs = (id: string) =>
  db.rows<{ contact: string; context: Record<string, unknown> | null }>(
    'select contact_id as contact, context from automation_runs where automation_id = $1 order by contact_id, entry',
    [id],
  );
const inside = async (id: string) => (await runs(id)).map(({ contact }) => contact);
async function result(id: string, body: object) {
  const queued = await enroll(id, body);
  expect(queued).toMatchObject({ status: 202, body: { jobId: expect.stringContaining('bulk-enroll-') } });
  return (await jobDone(api, project, `/contacts/bulk/${queued.body.jobId}`)).result;
}
/** Records events at their own times; each is the number of a contact, its minute and its data. */
async function happened(name: string, events: readonly (readonly [number, number, object])[]): Promise<void> {
  for (const [person, minute, data] of events)
    await db.count(
      `insert into events (id, project_id, contact_id, name, data, created_at)
       values (uuidv7(), $1, $2, $3, $4, $5::timestamptz + make_interval(mins => $6))`,
      [project.id, people[person], name, JSON.stringify(data), since, minute],
    );
}

/** A job that no worker knows of. */
async function idleJob(workflowId: string, spec: object = {}): Promise<string> {
  const id = `bulk-enroll-${crypto.randomUUID()}`;
  const selector = { mode: 'query', filter: { condition: pro } };
  await db.count(`insert into jobs (id, project_id, kind, spec) values ($1, $2, 'bulk', $3)`, [
    id,
    project.id,
    JSON.stringify({ projectId: project.id, operation: 'enroll', workflowId, mostPerMinute: null, selector, ...spec }),
  ]);
  return id;
}
const share = () => ({ stop: new AbortController().signal, longestMs: 600_000, onStep() {} });
const inPagesOf = (pageSize: number): Enrolling => ({
  enrollSome: (tx, job, most) => enrollSome(tx, job, { most, startsPerHour: 0 }),
  remaining: async () => pageSize,
  begin() {},
});

test('contacts that match a condition, or are in a segment, enter; a dry run counts them and writes nothing', async () => {
  const id = await enabled();
  await own.done('POST', `/workflows/${id}/executions`, { contactId: people[0] });
  const isIn = 'Has been in the workflow, which does not allow re-entry';
  const preview = { dryRun: true, contacts: 5, enters: 4, reasons: { [isIn]: 1 } };
  expect(await enroll(id, { condition: pro, dryRun: true })).toMatchObject({ status: 200, body: preview });
  expect(await inside(id)).toEqual([people[0]]);
  const segment = await own.done('POST', '/segments', { name: 'Pros', type: 'DYNAMIC', condition: pro });
  expect(await result(id, { segmentId: segment.id })).toMatchObject({
    operation: 'enroll',
    ...{ totalRequested: 5, successCount: 4, failureCount: 1, reasons: { [isIn]: 1 } },
    errors: [{ contactId: people[0], error: isIn }],
  });
  expect(await inside(id)).toEqual(people.slice(0, 5).sort());
  // Without re-entry nobody comes in a second time.
  expect(await result(id, { condition: pro })).toMatchObject({ successCount: 0, reasons: { [isIn]: 5 } });
});

test('with re-entry whoever has left enters again, and whoever is inside does not', async () => {
  const id = await enabled({ allowReentry: true });
  for (const contactId of people.slice(0, 2)) await own.done('POST', `/workflows/${id}/executions`, { contactId });
  await db.count(`update automation_runs set status = 'COMPLETED' where automation_id = $1 and contact_id = $2`, [
    id,
    people[0],
  ]);
  const reasons = { 'Is in the workflow already': 1 };
  expect((await enroll(id, { condition: pro, dryRun: true })).body).toMatchObject({ contacts: 5, enters: 4, reasons });
  expect(await result(id, { condition: pro })).toMatchObject({ successCount: 4, reasons });
  expect(await inside(id)).toEqual([...people.slice(0, 5), people[0]].sort());
});

test.each([true, false])(
  'a preview counts what the job does, whatever became of contacts before (re-entry: %s)',
  async (allowReentry) => {
    const id = await enabled({ allowReentry });
    const startsPerHour = 2;
    const entered = async (person: string | undefined, times: number) => {
      for (let time = 0; time < times; time++) {
        await own.done('POST', `/workflows/${id}/executions`, { contactId: person });
        await db.count(`update automation_runs set status = 'COMPLETED' where automation_id = $1 and contact_id = $2`, [
          id,
          person,
        ]);
      }
    };
    const [never, left, twice, inside, long] = people;
    await entered(left, 1);
    await entered(inside, 1);
    await entered(long, 1);
    await entered(twice, 1);
    await db.count(`update automations set allow_reentry = true where id = $1`, [id]);
    await entered(twice, 1);
    await entered(long, 1);
    await db.count(`update automations set allow_reentry = $2 where id = $1`, [id, allowReentry]);
    await db.count(
      `update automation_runs set started_at = started_at - interval '2 hours' where automation_id = $1 and contact_id = $2`,
      [id, long],
    );
    await db.count(`update automation_runs set status = 'RUNNING' where automation_id = $1 and contact_id = $2`, [
      id,
      inside,
    ]);
    const counted = await enrollPast(db, project.id, id, { condition: pro, dryRun: true }, startsPerHour);
    const jobId = await idleJob(id);
    const job: Enrolling = {
      ...inPagesOf(200),
      enrollSome: (tx, row, most) => enrollSome(tx, row, { most, startsPerHour }),
    };
    expect(await changeContacts(db, jobId, share(), job)).toMatchObject({ state: 'finished', rows: 5 });
    const errors = await db.rows<{ error: string; count: number }>(
      'select error, count(*)::int as count from job_errors where job_id = $1 group by 1',
      [jobId],
    );
    const reasons = Object.fromEntries(errors.map(({ error, count }) => [error, count]));
    expect(counted.body).toEqual({ dryRun: true, contacts: 5, enters: allowReentry ? 3 : 1, reasons });
    expect(Object.keys(reasons)).toHaveLength(allowReentry ? 2 : 1);
    expect(never).toBeDefined();
  },
);

test('contacts of an event enter once, with the data of their latest event that matches', async () => {
  await happened('order.placed', [
    [0, -5, { total: 90 }],
    [1, 1, { total: 90 }],
    [2, 2, { total: 50 }],
    [1, 3, { total: 70, gift: { value: true, persistent: false } }],
    [1, 4, { total: 10 }],
    [3, 4, { total: 20 }],
    [2, 4, { total: 60 }],
    [4, 5, { total: 5 }],
    [4, 5, { total: 80 }],
  ]);
  const where = [{ path: 'total', operator: 'greaterThanOrEqual', value: 50 }];
  const event = { name: 'order.placed', since, where };
  const id = await enabled();
  expect((await enroll(id, { event, dryRun: true })).body).toMatchObject({ contacts: 3, enters: 3, reasons: {} });
  // In pages of one event each, so that a contact is met on several, and one whose two events are of one instant once.
  const jobId = await idleJob(id, { selector: { mode: 'event', event } });
  expect(await changeContacts(db, jobId, share(), inPagesOf(1))).toMatchObject({ state: 'finished', rows: 3 });
  const expected = [
    { contact: people[1], context: { total: 70, gift: true } },
    { contact: people[2], context: { total: 60 } },
    { contact: people[4], context: { total: 80 } },
  ];
  expect(await runs(id)).toEqual(expected.sort((one, other) => ((one.contact ?? '') < (other.contact ?? '') ? -1 : 1)));
  expect(await result(await enabled(), { event: { name: 'order.placed', since } })).toMatchObject({ successCount: 4 });
});

test('a page of events is read by indexes alone', async () => {
  await db.count(
    `insert into events (id, project_id, contact_id, name, data, created_at)
     select uuidv7(), $1, ($2::uuid[])[1 + n % 7], case n % 30 when 0 then 'trial.ended' else 'page.viewed' end, '{"total": 1}',
       $3::timestamptz + make_interval(secs => n) from generate_series(1, 9000) n`,
    [project.id, people, since],
  );
  await db.count('vacuum analyze events');
  const where = [{ path: 'total', operator: 'equals', value: 1 }];
  const page = { at: since, after: leastId, until: new Date(), limit: 50 };
  const [row] = await db.rows<{ 'QUERY PLAN': unknown }>(
    sql`explain (format json) ${pageOfEvents(project.id, { name: 'trial.ended', where }, page)}`,
  );
  const plan = JSON.stringify(row);
  expect(plan).toContain('"Index Name":"events_name"');
  expect(plan).not.toContain('"Seq Scan"');
});

describe('a repeated activity', () => {
  // A worker that dies once its second transaction is committed, or just before.
  const dying = (after: 'commit' | 'work'): Database => {
    let transactions = 0;
    return {
      ...db,
      async transaction(work) {
        const isLast = ++transactions === 2;
        const done = await db.transaction(async (tx) => {
          const result = await work(tx);
          if (isLast && after === 'work') throw new Error('killed');
          return result;
        });
        if (isLast) throw new Error('killed');
        return done;
      },
    };
  };

  test.each(['commit', 'work'] as const)(
    'enrolls nobody twice when a worker was killed after the %s',
    async (after) => {
      const id = await enabled({ allowReentry: true });
      const jobId = await idleJob(id);
      await expect(changeContacts(dying(after), jobId, share(), inPagesOf(2))).rejects.toThrow('killed');
      // Whoever has left could enter once more.
      await db.count(`update automation_runs set status = 'COMPLETED' where automation_id = $1`, [id]);
      const reports = await Promise.all([1, 2].map(() => changeContacts(db, jobId, share(), inPagesOf(2))));
      expect(reports.map(({ state }) => state)).toContain('finished');
      expect(await changeContacts(db, jobId, share(), inPagesOf(2))).toMatchObject({ state: 'finished', rows: 5 });
      expect(await inside(id)).toEqual(people.slice(0, 5).sort());
    },
  );
});

test('a pace holds over shares, and a pause holds the job: the rest waits until the minute is over', async () => {
  const id = await enabled();
  const jobId = await idleJob(id, { mostPerMinute: 2 });
  await own.done('POST', `/workflows/${id}/pause`);
  expect(await changeContacts(db, jobId, share(), inPagesOf(100))).toMatchObject({ state: 'busy', rows: 0 });
  await own.done('POST', `/workflows/${id}/resume`, {});
  const busy = { state: 'busy', rows: 2, waitMs: expect.any(Number) };
  for (let turn = 0; turn < 2; turn++)
    expect(await changeContacts(db, jobId, share(), inPagesOf(100))).toMatchObject(busy);
  expect(await inside(id)).toHaveLength(2);
  const nextMinute = `update jobs set place = place || jsonb_build_object('minute', $2::text) where id = $1`;
  for (const rows of [4, 5]) {
    await db.count(nextMinute, [jobId, new Date(Date.now() - 60_000).toISOString()]);
    expect(await changeContacts(db, jobId, share(), inPagesOf(100))).toMatchObject({ rows });
  }
  expect(await inside(id)).toEqual(people.slice(0, 5).sort());
});

test('a workflow that is disabled meanwhile ends the job, which cannot be undone', async () => {
  const id = await enabled();
  const jobId = await idleJob(id);
  await own.done('PATCH', `/workflows/${id}`, { enabled: false });
  await changeContacts(db, jobId, share(), inPagesOf(100));
  const failedReason = 'The workflow was disabled while contacts were enrolled';
  expect((await own.call('GET', `/contacts/bulk/${jobId}`)).body).toMatchObject({ state: 'failed', failedReason });
  expect((await enroll(id, { condition: pro, dryRun: true })).status).toBe(400);
  const undo = await own.call('POST', `/contacts/bulk/${jobId}/undo`, {});
  expect(undo).toMatchObject({ status: 422, body: { error: { errors: [{ field: 'jobId' }] } } });
});

test('a request names its field, and another project is not there', async () => {
  const id = await enabled();
  const event = { name: 'order.placed', since };
  const fieldOf = async (body: object) => {
    const { status, body: answer } = await enroll(id, body);
    return [status, JSON.stringify(answer).match(/"field":"([^"]+)"/)?.[1]];
  };
  expect(await fieldOf({})).toEqual([422, 'segmentId']);
  expect(await fieldOf({ condition: pro, event })).toEqual([422, 'segmentId']);
  expect(await fieldOf({ event: { name: 'order.placed' } })).toEqual([422, 'event.since']);
  expect(await fieldOf({ event: { ...event, since: 'yesterday' } })).toEqual([422, 'event.since']);
  const test = { path: 'total', operator: 'equals', value: 1 };
  expect(await fieldOf({ event: { ...event, where: Array.from({ length: 6 }, () => test) } })).toEqual([
    422,
    'event.where',
  ]);
  expect(await fieldOf({ event, mostPerMinute: 0 })).toEqual([422, 'mostPerMinute']);
  const foreign = automationHand(api, await aProject(database));
  expect((await foreign.call('POST', `/workflows/${id}/enroll`, { event })).status).toBe(404);
  const theirs = await foreign.done('POST', '/segments', { name: 'Theirs', type: 'DYNAMIC', condition: pro });
  expect((await enroll(id, { segmentId: theirs.id })).status).toBe(404);
  expect((await enroll(id, { condition: allOf({ ...dataIs('plan', 'pro'), operator: 'nearly' }) })).status).toBe(400);
  expect(await inside(id)).toEqual([]);
});
