import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { segmentActivities } from '../../activities/automation.ts';
import { readConfig } from '../../src/lib/config/config.ts';
import { startWorker } from '../../src/main/worker/worker-runtime.ts';
import { createSegmentWatch, touchedProjects } from '../../src/segments/changes.ts';
import type { SweepReport } from '../../src/segments/sweep.ts';
import { workflowId } from '../../temporal/commands.ts';
import { setUpTemporal } from '../../temporal/setup.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../support/api.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { addresses, allOf, dataIs, type SegmentHand, segmentHand, type TestFilter } from '../support/segments.ts';
import { type TestWorker, testTemporal, testWorker } from '../support/worker.ts';

let database: TestDatabase;
let api: TestApi;
let worker: TestWorker;
const warnings: object[] = [];
const log = pino({ level: 'silent' });

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
  worker = await testWorker({
    activities: segmentActivities({
      db: database.db,
      log: { warn: (facts) => void warnings.push(facts) },
      clock: () => new Date(),
      stopping: new AbortController().signal,
    }),
    queues: ['bulk'],
  });
});
afterAll(async () => {
  await worker.stop();
  await api.close();
  await database.close();
});

interface Tenant extends SegmentHand {
  project: TestProject;
  track(email: string, event: string): Promise<unknown>;
}
async function tenant(name?: string): Promise<Tenant> {
  const project = await aProject(database, name);
  const hand = segmentHand(api, database, project);
  const track: Tenant['track'] = (email, event) => api.call(project.publicKey, 'POST', '/v1/track', { email, event });
  return { ...hand, project, track };
}

let runs = 0;
/** What the schedule starts. */
async function sweep(): Promise<SweepReport> {
  runs += 1;
  const id = `${worker.queuePrefix}/sweep/${runs}`;
  await worker.perform({ type: 'start', workflow: 'segmentSweep', id, input: null });
  return worker.result<SweepReport>(id);
}
/** What the watch over segments starts for a project. */
async function computeTouched({ project }: Tenant): Promise<SweepReport> {
  const id = workflowId.segments(project.id);
  const input = { projectId: project.id };
  runs += 1;
  await worker.perform({ type: 'start', workflow: 'segmentCompute', id, input, restart: `${runs}` });
  return worker.result<SweepReport>(id);
}
// Nothing is settled as long as it might still be overtaken, which is a matter of two seconds.
const settled = () => database.db.rows(`update segments set settled_through = now() where settled_through is not null`);
const hadPurchase: TestFilter = { field: 'event.purchase', operator: 'triggered' };
const [anna = '', ben = '', cleo = '', dora = ''] = addresses(4);
const tracked = (...filters: TestFilter[]) => ({ condition: allOf(...filters), trackMembership: true });

describe('the schedule', () => {
  test('computes tracked segments, counts the others, and passes over what nothing touched', async () => {
    const own = await tenant();
    const other = await tenant('Umbrella');
    for (const hand of [own, other]) await hand.contact(anna, { plan: 'pro' });
    await own.contact(ben, { plan: 'free' });
    const pro = await own.segment({ name: 'Pro', ...tracked(dataIs('plan', 'pro')) });
    const free = await own.segment({ condition: allOf(dataIs('plan', 'free')) });
    const hand = await own.segment({ type: 'STATIC' });
    const foreign = await other.segment({ name: 'Pro', ...tracked(dataIs('plan', 'pro')) });

    expect(await sweep()).toMatchObject({ computed: 2, entered: 2, left: 0, failed: 0 });
    expect(await own.told(pro.id)).toEqual([`segment.pro.entry ${anna}`]);
    expect(await other.told(foreign.id)).toEqual([`segment.pro.entry ${anna}`]);

    await settled();
    expect(await sweep()).toEqual({ computed: 0, counted: 0, untouched: 4, busy: 0, failed: 0, entered: 0, left: 0 });

    await own.contact(anna, { plan: 'free' });
    expect(await sweep()).toMatchObject({ computed: 1, counted: 1, untouched: 2, entered: 0, left: 1 });
    expect(await own.told(pro.id)).toEqual([`segment.pro.entry ${anna}`, `segment.pro.exit ${anna}`]);
    expect([await own.memberCount(free.id), await own.memberCount(hand.id)]).toEqual([2, 0]);
    expect(await other.members(foreign.id)).toEqual([anna]);
  });

  test('a deleted contact is missing in the counts afterwards, without an event', async () => {
    const own = await tenant();
    await own.contact(anna, { plan: 'pro' });
    const id = await own.contact(ben, { plan: 'pro' });
    const pro = await own.segment(tracked(dataIs('plan', 'pro')));
    const count = await own.segment({ condition: allOf(dataIs('plan', 'pro')) });
    const hand = await own.segment({ type: 'STATIC' });
    await own.call('POST', `/segments/${hand.id}/members`, { emails: [anna, ben] });
    await sweep();
    await settled();
    await own.call('DELETE', `/contacts/${id}`);
    await sweep();
    for (const segment of [pro, count, hand]) expect(await own.memberCount(segment.id)).toBe(1);
    expect((await own.told(pro.id)).filter((line) => line.includes('.exit'))).toEqual([]);
  });

  test('who leaves a window of time leaves the segment, although nothing was written', async () => {
    const own = await tenant();
    await own.track(anna, 'purchase');
    const recent = { field: 'event.purchase', operator: 'triggeredWithin', value: 1, unit: 'days' };
    const segment = await own.segment({ name: 'Recent', ...tracked(recent) });
    await sweep();
    await database.db.count(
      `update events set created_at = now() - interval '2 days' where project_id = $1 and name = 'purchase'`,
      [own.project.id],
    );
    await settled();
    expect((await computeTouched(own)).computed).toBe(0);
    await sweep();
    expect(await own.told(segment.id)).toEqual([`segment.recent.entry ${anna}`, `segment.recent.exit ${anna}`]);
  });

  test('a change travels through segments that refer to one another in one pass', async () => {
    const own = await tenant();
    await own.contact(anna, { plan: 'free' });
    const base = await own.segment({ name: 'Base', ...tracked(dataIs('plan', 'pro')) });
    const outer = await own.segment({
      name: 'Outer',
      ...tracked({ field: `segment.${base.id}`, operator: 'memberOfSegment' }),
    });
    // The reference points to a younger segment, so that the order of ids would be the wrong one.
    const younger = await own.segment({ name: 'Younger', ...tracked(dataIs('plan', 'pro')) });
    await own.call('PATCH', `/segments/${outer.id}`, {
      condition: allOf({ field: `segment.${younger.id}`, operator: 'memberOfSegment' }),
    });
    await sweep();
    await settled();
    await own.contact(anna, { plan: 'pro' });
    expect(await computeTouched(own)).toMatchObject({ computed: 3, entered: 3 });
    expect(await own.members(outer.id)).toEqual([anna]);
  });

  test('when a segment goes, those that refer to it are evaluated anew', async () => {
    const own = await tenant();
    await own.contact(anna, { plan: 'pro' });
    const base = await own.segment({ condition: allOf(dataIs('plan', 'pro')) });
    const inside = await own.segment(tracked({ field: `segment.${base.id}`, operator: 'memberOfSegment' }));
    await sweep();
    expect(await own.members(inside.id)).toEqual([anna]);
    await settled();
    await own.call('DELETE', `/segments/${base.id}`);
    await sweep();
    expect(await own.members(inside.id)).toEqual([]);
  });

  test('a segment that cannot be evaluated is reported and stops no other', async () => {
    const own = await tenant();
    await own.contact(anna, { plan: 'pro' });
    const broken = await own.segment(tracked(dataIs('plan', 'pro')));
    const sound = await own.segment(tracked(dataIs('plan', 'pro')));
    await database.db.count(`update segments set condition = '{"logic":"XOR"}' where id = $1`, [broken.id]);
    expect(await sweep()).toMatchObject({ failed: 1 });
    expect(warnings).toContainEqual(expect.objectContaining({ segmentId: broken.id }));
    expect(await own.members(sound.id)).toEqual([anna]);
    await database.db.count('delete from segments where id = $1', [broken.id]);
  });
});

describe('after a change of data', () => {
  test.each<[string, TestFilter, (own: Tenant) => Promise<unknown>]>([
    ['data of a contact', dataIs('plan', 'pro'), (own) => own.contact(anna, { plan: 'pro' })],
    ['an event', hadPurchase, (own) => own.track(anna, 'purchase')],
    [
      'a subscription',
      { field: 'subscribed', operator: 'equals', value: false },
      (own) => own.call('POST', '/contacts', { email: anna, subscribed: false }),
    ],
    ['a new contact', { field: 'event.purchase', operator: 'notTriggered' }, (own) => own.contact(dora)],
  ])('%s makes the project touched, and the next compute asks the contacts concerned', async (_, filter, change) => {
    const own = await tenant();
    await own.contact(anna, { plan: 'free' });
    const segment = await own.segment({ name: 'Touched', ...tracked(filter) });
    await sweep();
    await settled();
    const before = await own.members(segment.id);
    expect(await touchedProjects(database.db)).not.toContain(own.project.id);
    await change(own);
    expect(await touchedProjects(database.db)).toContain(own.project.id);
    expect(await computeTouched(own)).toMatchObject({ computed: 1, entered: 1, left: 0 });
    expect((await own.members(segment.id)).length).toBe(before.length + 1);
    await settled();
    expect(await touchedProjects(database.db)).not.toContain(own.project.id);
    expect(await computeTouched(own)).toMatchObject({ computed: 0, untouched: 1 });
  });

  test('changes that the condition does not ask about touch nothing', async () => {
    const own = await tenant();
    await own.contact(anna);
    const buyers = await own.segment(tracked(hadPurchase));
    await sweep();
    await settled();
    await own.track(anna, 'page.view');
    await own.contact(anna, { plan: 'pro' });
    expect(await touchedProjects(database.db)).not.toContain(own.project.id);
    await own.track(anna, 'purchase');
    expect(await touchedProjects(database.db)).toContain(own.project.id);
    expect(await own.members(buyers.id)).toEqual([]);
  });

  test('only the contacts concerned are asked: others stay as they were until the next full compute', async () => {
    const own = await tenant();
    for (const email of [anna, ben]) await own.contact(email, { plan: 'pro' });
    const segment = await own.segment(tracked(dataIs('plan', 'pro')));
    await sweep();
    await settled();
    // A write that keeps the instant of the last change, which no part of the service makes.
    await database.db.count(`update contacts set data = '{}' where project_id = $1 and email = $2`, [
      own.project.id,
      ben,
    ]);
    await own.contact(cleo, { plan: 'pro' });
    expect(await computeTouched(own)).toMatchObject({ computed: 1, entered: 1, left: 0 });
    expect(await own.members(segment.id)).toEqual([anna, ben, cleo].sort());
    await database.db.count(`update segments set evaluated_at = now() - interval '61 minutes' where id = $1`, [
      segment.id,
    ]);
    expect(await computeTouched(own)).toMatchObject({ computed: 1, left: 1 });
    expect(await own.members(segment.id)).toEqual([anna, cleo].sort());
  });

  test('a change whose transaction was open during a compute is not lost', async () => {
    const own = await tenant();
    await own.contact(anna, { plan: 'free' });
    const segment = await own.segment(tracked(dataIs('plan', 'pro')));
    await sweep();
    const client = await database.db.pool.connect();
    try {
      await client.query('begin');
      await client.query(
        `update contacts set data = '{"plan":"pro"}', updated_at = now() where project_id = $1 and email = $2`,
        [own.project.id, anna],
      );
      // Longer than the margin for clocks, so that only knowing of the open transaction helps.
      await new Promise((resolve) => setTimeout(resolve, 2500));
      await own.contact(ben, { plan: 'free' });
      await computeTouched(own);
      expect(await own.members(segment.id)).toEqual([]);
      await client.query('commit');
    } finally {
      client.release();
    }
    expect(await touchedProjects(database.db)).toContain(own.project.id);
    expect(await computeTouched(own)).toMatchObject({ computed: 1, entered: 1 });
    expect(await own.members(segment.id)).toEqual([anna]);
  });

  test('a contact that somebody else holds is taken in later', async () => {
    const own = await tenant();
    for (const email of [anna, ben]) await own.contact(email, { plan: 'free' });
    const segment = await own.segment(tracked(dataIs('plan', 'pro')));
    await sweep();
    await settled();
    for (const email of [anna, ben]) await own.contact(email, { plan: 'pro' });
    const client = await database.db.pool.connect();
    try {
      await client.query('begin');
      await client.query('select from contacts where project_id = $1 and email = $2 for update', [
        own.project.id,
        anna,
      ]);
      expect(await computeTouched(own)).toMatchObject({ computed: 1, entered: 1 });
      expect(await own.members(segment.id)).toEqual([ben]);
      await client.query('rollback');
    } finally {
      client.release();
    }
    expect(await touchedProjects(database.db)).toContain(own.project.id);
    expect(await computeTouched(own)).toMatchObject({ computed: 1, entered: 1 });
    expect(await own.members(segment.id)).toEqual([anna, ben].sort());
    expect((await own.told(segment.id)).length).toBe(2);
  });

  test('the watch starts a compute for what it finds touched twice in a row', async () => {
    const own = await tenant();
    await own.contact(anna);
    const segment = await own.segment({ name: 'Watched', ...tracked(dataIs('plan', 'pro')) });
    await sweep();
    await settled();
    const watch = createSegmentWatch({
      touchedProjects: () => touchedProjects(database.db),
      temporal: worker.temporal,
      queuePrefix: worker.queuePrefix,
      log,
    });
    expect(await watch()).toBe(0);
    await own.contact(anna, { plan: 'pro' });
    expect(await watch()).toBe(0);
    expect(await watch()).toBe(1);
    await worker.result(workflowId.segments(own.project.id));
    expect(await own.told(segment.id)).toEqual([`segment.watched.entry ${anna}`]);
  });
});

test('a worker follows changes of data by itself within seconds', async () => {
  await using fresh = await testDatabase();
  await using server = await testTemporal();
  const config = readConfig({
    DATABASE_URL: fresh.url,
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    TEMPORAL_TASK_QUEUE: server.queuePrefix,
    TEMPORAL_SETUP: 'false',
  });
  await setUpTemporal(server.temporal, server.queuePrefix);
  await using running = await startWorker(config, log);
  await running.ready;
  await using ownApi = await testApi(fresh);
  const own = segmentHand(ownApi, fresh, await aProject(fresh));
  await own.contact(anna, { plan: 'pro' });
  const segment = await own.segment({ name: 'Live', ...tracked(dataIs('plan', 'pro')) });
  expect((await own.call('POST', `/segments/${segment.id}/compute`)).body.added).toBe(1);
  await own.contact(anna, { plan: 'free' });
  await own.contact(ben, { plan: 'pro' });
  await expect
    .poll(() => own.told(segment.id), { interval: 500 })
    .toEqual([`segment.live.entry ${anna}`, `segment.live.entry ${ben}`, `segment.live.exit ${anna}`]);
  const schedule = server.client.schedule.getHandle(`${server.queuePrefix}/housekeeping/segments`);
  expect((await schedule.describe()).spec.intervals?.map(({ every }) => every)).toEqual([300_000]);
  for (const name of ['reconcile', 'retention', 'segments'])
    await server.client.schedule.getHandle(`${server.queuePrefix}/housekeeping/${name}`).delete();
});

describe('a segment that is tracked from its creation', () => {
  test('is computed by the next watch, which leaves one that could not be evaluated to the schedule', async () => {
    const own = await tenant();
    await own.contact(anna, { plan: 'pro' });
    const pro = await own.segment({ name: 'New', ...tracked(dataIs('plan', 'pro')) });
    expect(await own.told(pro.id)).toEqual([]);
    expect(await touchedProjects(database.db)).toContain(own.project.id);
    expect(await computeTouched(own)).toMatchObject({ computed: 1, entered: 1 });
    expect(await own.members(pro.id)).toEqual([anna]);
    expect(await own.told(pro.id)).toEqual([`segment.new.entry ${anna}`]);
    await database.db.count(
      `update segments set settled_through = null, updated_at = now() - interval '2 minutes' where id = $1`,
      [pro.id],
    );
    expect(await touchedProjects(database.db)).not.toContain(own.project.id);
  });
});
