import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

const minuteMs = 60_000;
let database: TestDatabase;
let project: TestProject;

beforeAll(async () => {
  database = await testDatabase();
  project = await aProject(database);
});
afterAll(() => database.close());

/** An API process on a machine whose clock is wrong by so many minutes. */
const apiBy = (minutes: number) => testApi(database, {}, { clock: () => new Date(Date.now() + minutes * minuteMs) });
const send = (api: TestApi, more: object) =>
  api.call(project.secretKey, 'POST', '/v1/send', {
    to: 'ada@example.com',
    from: project.sender,
    subject: 'Hello',
    body: '<p>Hi</p>',
    ...more,
  });
const dueInMinutes = async (id: string) =>
  (
    await database.db.row<{ minutes: number }>(
      `select (extract(epoch from due_at - now()) / 60)::float8 as minutes from email_queue where email_id = $1`,
      [id],
    )
  )?.minutes;

test.each([-60, 60])(
  'an API whose clock is %i minutes off holds and schedules mail by that of Postgres',
  async (off) => {
    await using api = await apiBy(off);
    const held = await send(api, { hold: '15m' });
    expect(held.status).toBe(200);
    const [{ email: id }] = held.body.data.emails;
    expect(await dueInMinutes(id)).toBeGreaterThan(14);
    expect(await dueInMinutes(id)).toBeLessThan(16);

    const at = new Date(Date.now() + 30 * minuteMs).toISOString();
    const scheduled = await send(api, { scheduledFor: at });
    expect(scheduled.body.data.emails[0]).toMatchObject({ scheduledFor: at });
    expect(await dueInMinutes(scheduled.body.data.emails[0].email)).toBeGreaterThan(25);
    const past = await send(api, { scheduledFor: new Date(Date.now() - minuteMs).toISOString() });
    expect(past.body.data.emails[0]).toMatchObject({ scheduledFor: null });

    const moved = await api.call(project.secretKey, 'PATCH', `/v1/emails/${id}`, { scheduledFor: at });
    expect(moved.status).toBe(200);
    expect(await dueInMinutes(id)).toBeGreaterThan(25);
  },
);

const ready = async (api: TestApi) => (await api.call(null, 'GET', '/ready')).body;

test('readiness warns of a clock that differs, and stays ready', async () => {
  await using right = await apiBy(0);
  await expect.poll(() => ready(right)).toEqual({ status: 'ok', checks: { postgres: 'ok', temporal: 'ok' } });
  await using behind = await apiBy(-1);
  await expect
    .poll(() => ready(behind))
    .toEqual({
      status: 'ok',
      checks: { postgres: 'ok', temporal: 'ok' },
      warnings: [expect.stringMatching(/^the clock of this process is (59|60|61) s behind that of Postgres/)],
    });
});

test('readiness tells when Temporal answers and starts nothing, as with a store that cannot write', async () => {
  await using api = await apiBy(0);
  await expect.poll(async () => (await ready(api)).status).toBe('ok');
  const queue = api.config.TEMPORAL_TASK_QUEUE;
  await database.db.count(
    `insert into temporal_stores (task_queue, workflow_id, run_id, seen_at) values ($1, 'w', 'r', now() - interval '2 minutes')`,
    [queue],
  );
  expect(await ready(api)).not.toHaveProperty('warnings');
  await database.db.count(`update temporal_stores set seen_at = now() - interval '7 minutes' where task_queue = $1`, [
    queue,
  ]);
  expect(await ready(api)).toMatchObject({
    status: 'ok',
    warnings: ["the reconciler has not run for 7 min: no worker runs, or Temporal's store cannot write"],
  });
  // What the outbox was told comes first.
  await database.db.count(
    `insert into outbox (id, dedupe_key, kind, workflow_type, workflow_id, payload, last_error, created_at)
     values (gen_random_uuid(), 'probe', 'start', 'campaign', 'campaign/probe', '{}', 'no answer from temporal:7233', now() - interval '3 minutes')`,
  );
  const [warning] = (await ready(api)).warnings;
  expect(warning).toBe(
    'Temporal has started no work for 3 min, although it may answer (no answer from temporal:7233): see whether its store can write',
  );
  // A burst that is worked off is none of it.
  await database.db.count(
    `insert into outbox (id, dedupe_key, kind, workflow_type, workflow_id, payload, done_at)
     values (gen_random_uuid(), 'done', 'start', 'campaign', 'campaign/done', '{}', now())`,
  );
  expect((await ready(api)).warnings).toEqual([expect.stringContaining('the reconciler')]);
  await database.db.count('delete from outbox');
  await database.db.count('delete from temporal_stores');
});
