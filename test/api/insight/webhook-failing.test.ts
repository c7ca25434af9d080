import { afterAll, beforeAll, expect, test } from 'vitest';
import { guardedConnector } from '../../../src/http/guarded-requests/guard.ts';
import { deliverWebhooks, type WebhookDeps } from '../../../src/insight/webhooks/deliver.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { startReceiver } from '../../support/receiver.ts';

let database: TestDatabase;
let api: TestApi;
let project: TestProject;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database, { WEBHOOK_ALLOWED_HOSTS: '127.0.0.1' });
  project = await aProject(database);
});
afterAll(async () => {
  await api.close();
  await database.close();
});

const call = (method: string, path: string, body?: unknown) =>
  api.call(project.secretKey, method, `/webhook-endpoints${path}`, body);

function work(id: string) {
  const deps: WebhookDeps = {
    db: database.db,
    connect: guardedConnector({ allowedHosts: ['127.0.0.1'] }, 2_000),
    encryptionKeys: api.config.encryptionKeys,
    clock: () => new Date(),
    tell: (tx, mail) => api.app.tellMembers(tx, mail),
    dispatchSoon: () => undefined,
    idleMs: 0,
  };
  return deliverWebhooks(deps, id, new AbortController().signal);
}

/** An event right after the place that the feed of an endpoint has come to. */
const happens = (id: string, name: string) =>
  database.db.count(
    `insert into events (id, project_id, name, created_at)
     select gen_random_uuid(), project_id, $2, cursor_at + interval '2 milliseconds' from webhook_endpoints where id = $1`,
    [id, name],
  );

/** Lets the time pass until the next attempt of a delivery: what has happened to the endpoint lies further back. Answers the hours. */
async function untilNextAttempt(id: string): Promise<number> {
  const row = await database.db.row<{ hours: number }>(
    `select extract(epoch from max(due_at) - now())::float8 / 3600 as hours from webhook_deliveries
     where endpoint_id = $1 and status = 'PENDING'`,
    [id],
  );
  const hours = row?.hours ?? 0;
  await passes(id, hours);
  await database.db.count(
    `update webhook_deliveries set due_at = now() where endpoint_id = $1 and status = 'PENDING'`,
    [id],
  );
  return hours;
}

const passes = (id: string, hours: number) =>
  database.db.count(
    `update webhook_endpoints set failing_since = failing_since - make_interval(secs => $2::float8 * 3600) where id = $1`,
    [id, hours],
  );

test('an endpoint that fails is tried for 75 hours, disabled after five days, and continues with the first event it lacks', async () => {
  let status = 500;
  await using receiver = await startReceiver((_, response) => void response.writeHead(status).end());
  const created = await call('POST', '', { url: `http://127.0.0.1:${receiver.port}/hook`, events: ['order.*'] });
  const { id } = created.body;
  // The feed comes to what happened last within some milliseconds.
  const called = (times: number) => expect.poll(() => work(id).then(() => receiver.requests.length)).toBe(times);
  const about = async () => (await call('GET', `/${id}`)).body;
  await database.db.count(
    `update webhook_endpoints set cursor_at = now() - interval '1 minute', counted_from = now() - interval '1 minute' where id = $1`,
    [id],
  );
  await happens(id, 'order.placed');
  await work(id);
  let hours = 0;
  for (let attempt = 2; attempt <= 10; attempt++) {
    hours += await untilNextAttempt(id);
    await work(id);
    expect(receiver.requests).toHaveLength(attempt);
  }
  // The tenth was the last; every delay has some jitter.
  expect(Math.abs(hours - 75)).toBeLessThan(15);
  const [first] = (await call('GET', `/${id}/deliveries`)).body.data;
  expect(first).toMatchObject({ status: 'FAILED', attempts: 10, nextAttemptAt: null });
  expect(await about()).toMatchObject({ status: 'ENABLED', disabledReason: null });

  await passes(id, 5 * 24 - hours - 1);
  await happens(id, 'order.paid');
  await called(11);
  expect(await about()).toMatchObject({ status: 'ENABLED' });
  await untilNextAttempt(id);
  await passes(id, 1);
  await work(id);
  expect(await about()).toMatchObject({ status: 'DISABLED', disabledReason: 'Every delivery failed for five days' });
  expect(await database.db.rows(`select from system_mails where kind = 'webhook-disabled'`)).toHaveLength(1);

  // Disabled, it is called no more and loses nothing.
  await happens(id, 'order.closed');
  await work(id);
  expect(receiver.requests).toHaveLength(12);
  status = 200;
  expect((await call('PATCH', `/${id}`, { paused: false })).body).toMatchObject({
    status: 'ENABLED',
    failingSince: null,
  });
  // The first event had used up its attempts before.
  await called(15);
  const names = receiver.requests.slice(12).map(({ body }) => JSON.parse(body).type);
  expect(names.toSorted()).toEqual(['order.closed', 'order.paid', 'order.placed']);
  expect((await call('GET', `/${id}/audit`)).body).toMatchObject({ events: 3, delivered: 3, failed: 0, addsUp: true });
});
