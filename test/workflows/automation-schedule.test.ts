import { afterAll, beforeAll, expect, test } from 'vitest';
import { enrolmentActivities } from '../../activities/automation.ts';
import { enrolAudience, restoreSchedules } from '../../src/automations/enrollment/audience.ts';
import { systemClock } from '../../src/lib/time.ts';
import { Outbox } from '../../src/store/outbox/dispatcher.ts';
import { scheduleRevision } from '../../src/store/outbox/schedules.ts';
import type { Database } from '../../src/store/sql.ts';
import { workflowScheduleId } from '../../temporal/commands.ts';
import { aProject, type TestApi, testApi } from '../support/api.ts';
import { type AutomationHand, automationHand } from '../support/automations.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { addresses, allOf, dataIs } from '../support/segments.ts';
import { type TestWorker, testWorker } from '../support/worker.ts';

let database: TestDatabase;
let db: Database;
let api: TestApi;
let own: AutomationHand;
let worker: TestWorker;
let outbox: Outbox;
const people: string[] = [];
const dispatchSoon: Outbox['dispatchSoon'] = (...tickets) => outbox.dispatchSoon(...tickets);

beforeAll(async () => {
  database = await testDatabase();
  db = database.db;
  // The API makes no calls of its own here: the test's outbox does, to the queues of its worker.
  api = await testApi(database, { TEMPORAL_ADDRESS: '127.0.0.1:1' });
  own = automationHand(api, await aProject(database));
  const activities = enrolmentActivities({
    db,
    clock: systemClock,
    dispatchSoon,
    stopping: new AbortController().signal,
  });
  worker = await testWorker({ activities, queues: ['bulk'] });
  const log = { info() {}, warn() {} } as never;
  outbox = new Outbox({ db, temporal: worker.temporal, queuePrefix: worker.queuePrefix, log, revivers: {} });
  for (const [n, email] of addresses(7).entries())
    people.push(await own.contact(email, { plan: n < 5 ? 'pro' : 'free' }));
});
afterAll(async () => {
  await outbox.close();
  await worker.stop();
  await api.close();
  await database.close();
});

const pro = allOf(dataIs('plan', 'pro'));

async function scheduled(triggerConfig: object, allowReentry = false) {
  const { id } = await own.automation({ allowReentry });
  await own.done('PATCH', `/workflows/${id}`, { triggerType: 'SCHEDULE', triggerConfig, enabled: true });
  return id;
}
/** Makes every call about schedules; one that the API has taken comes back when it finds no Temporal. */
async function settle() {
  await expect
    .poll(async () => {
      await outbox.dispatchDue(100);
      return db.rows(`select from outbox where done_at is null and workflow_id like 'workflow-schedule/%'`);
    })
    .toEqual([]);
}
const arrivals = async (automationId: string) =>
  (
    await db.rows<{ contact: string }>(
      'select contact_id as contact from automation_arrivals where automation_id = $1',
      [automationId],
    )
  ).map(({ contact }) => contact);
const enrol = (id: string, fireTime: string, contactsPerPage = 2) =>
  enrolAudience({ db, clock: systemClock, dispatchSoon }, id, fireTime, {
    from: null,
    onPage() {},
    checkStop() {},
    contactsPerPage,
  });
const describeSchedule = (id: string) => worker.client.schedule.getHandle(workflowScheduleId(id)).describe();

test('the schedule of Temporal follows the workflow: made, changed, removed', async () => {
  const id = await scheduled({ schedule: '30 9 * * MON-FRI', timezone: 'Europe/Berlin', audienceCondition: pro });
  await settle();
  const made = await describeSchedule(id);
  expect(made.spec).toMatchObject({
    timezone: 'Europe/Berlin',
    calendars: [{ hour: [{ start: 9 }], minute: [{ start: 30 }], dayOfWeek: expect.any(Array) }],
  });
  const days = made.spec.calendars?.[0]?.dayOfWeek.flatMap(({ start }) => start);
  expect(days).toEqual(['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY']);
  const triggerConfig = { schedule: '0 18 * * *', audienceCondition: pro };
  await own.done('PATCH', `/workflows/${id}`, { triggerConfig });
  await settle();
  expect((await describeSchedule(id)).spec).toMatchObject({ timezone: 'UTC', calendars: [{ hour: [{ start: 18 }] }] });
  await own.done('PATCH', `/workflows/${id}`, { enabled: false });
  await settle();
  expect(await scheduleRevision(worker.temporal, workflowScheduleId(id))).toBeNull();
  await own.done('PATCH', `/workflows/${id}`, { enabled: true });
  await settle();
  expect(await scheduleRevision(worker.temporal, workflowScheduleId(id))).toBe(4);
  await own.done('DELETE', `/workflows/${id}`);
  await settle();
  expect(await scheduleRevision(worker.temporal, workflowScheduleId(id))).toBeNull();
});

test('a schedule starts executions as requests do, with a summary that is cut', async () => {
  const { id } = await own.automation({ name: 'ü'.repeat(255) });
  const triggerConfig = { schedule: '0 9 * * *', audienceCondition: pro };
  await own.done('PATCH', `/workflows/${id}`, { triggerType: 'SCHEDULE', triggerConfig, enabled: true });
  await settle();
  await worker.client.schedule.getHandle(workflowScheduleId(id)).trigger();
  await expect.poll(async () => (await describeSchedule(id)).info.recentActions.length).toBe(1);
  const [{ action } = { action: null }] = (await describeSchedule(id)).info.recentActions;
  const execution = worker.client.workflow.getHandle(action?.workflow.workflowId ?? '');
  const summary = await (await execution.describe()).staticSummary();
  expect(summary).toMatch(/^Lets the audience of automation "ü+$/);
  expect(Buffer.byteLength(summary ?? '')).toBeLessThanOrEqual(200);
});

test('a call of an earlier revision that comes late changes nothing', async () => {
  const id = await scheduled({ schedule: '0 9 * * *', audienceCondition: pro });
  const [{ payload: early } = { payload: null as never }] = await db.rows<{
    payload: Parameters<TestWorker['perform']>[0];
  }>('select payload from outbox where workflow_id = $1 order by id', [workflowScheduleId(id)]);
  await own.done('PATCH', `/workflows/${id}`, { triggerConfig: { schedule: '0 18 * * *', audienceCondition: pro } });
  await settle();
  await worker.perform(early);
  expect((await describeSchedule(id)).spec.calendars).toMatchObject([{ hour: [{ start: 18 }] }]);
});

test('each time of a schedule lets the audience in once, however often it is repeated', async () => {
  const id = await scheduled({ schedule: '0 9 * * *', audienceCondition: pro });
  const fireTime = '2026-03-02T09:00:00.000Z';
  expect(await enrol(id, fireTime)).toEqual({ state: 'enrolled', enrolled: 5 });
  expect(await enrol(id, fireTime)).toEqual({ state: 'enrolled', enrolled: 0 });
  expect((await arrivals(id)).sort()).toEqual(people.slice(0, 5).sort());
});

test('who has been inside arrives again only where re-entry is allowed, and who is inside never', async () => {
  const segment = await own.done('POST', '/segments', { name: 'Beta', type: 'STATIC' });
  await own.done('POST', `/segments/${segment.id}/members`, { emails: addresses(4, 2) });
  for (const allowReentry of [false, true]) {
    const triggerConfig = { schedule: '0 9 * * *', segmentId: segment.id, audienceCondition: pro };
    const id = await scheduled(triggerConfig, allowReentry);
    const [, , active = '', ended = '', fresh = ''] = people;
    for (const contactId of [active, ended]) await own.done('POST', `/workflows/${id}/executions`, { contactId });
    await db.count(`update automation_runs set status = 'COMPLETED' where automation_id = $1 and contact_id = $2`, [
      id,
      ended,
    ]);
    await enrol(id, '2026-03-02T09:00:00.000Z');
    expect((await arrivals(id)).sort()).toEqual((allowReentry ? [ended, fresh] : [fresh]).sort());
  }
});

test('a schedule that fires starts the enrolment for its time', async () => {
  const id = await scheduled({ schedule: '0 9 * * *', audienceCondition: pro });
  await settle();
  await worker.client.schedule.getHandle(workflowScheduleId(id)).trigger();
  await expect.poll(() => arrivals(id)).toHaveLength(5);
});

test('a schedule that was left behind removes itself', async () => {
  const id = await scheduled({ schedule: '0 9 * * *', audienceCondition: pro });
  await settle();
  await db.count('update automations set enabled = false where id = $1', [id]);
  expect(await enrol(id, '2026-03-02T09:00:00.000Z')).toEqual({ state: 'over', enrolled: 0 });
  await settle();
  await outbox.drain();
  expect(await scheduleRevision(worker.temporal, workflowScheduleId(id))).toBeNull();
});

test('a lost schedule is made again by the reconciler', async () => {
  const id = await scheduled({ schedule: '0 9 * * *', audienceCondition: pro });
  await settle();
  const revisionOf = (scheduleId: string) => scheduleRevision(worker.temporal, scheduleId);
  await restoreSchedules({ db, revisionOf, dispatchSoon });
  await settle();
  expect(await restoreSchedules({ db, revisionOf, dispatchSoon })).toBe(0);
  await worker.client.schedule.getHandle(workflowScheduleId(id)).delete();
  expect(await restoreSchedules({ db, revisionOf, dispatchSoon })).toBe(1);
  await settle();
  await outbox.drain();
  expect(await revisionOf(workflowScheduleId(id))).toBe(1);
});
