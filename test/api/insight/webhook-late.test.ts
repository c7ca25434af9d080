import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { reconcileChecks } from '../../../activities/index.ts';
import { guardedConnector } from '../../../src/http/guarded-requests/guard.ts';
import { createHttpMetrics } from '../../../src/http/metrics.ts';
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
});
afterAll(async () => {
  await api.close();
  await database.close();
});

const call = (method: string, path: string, body?: unknown) =>
  api.call(project.secretKey, method, `/webhook-endpoints${path}`, body);

async function anEndpoint(port: number, events = ['*']): Promise<string> {
  const { body } = await call('POST', '', { url: `http://127.0.0.1:${port}/hook`, events });
  return body.id;
}

// A transaction of others that has written nothing for this long only reads; a minute outside of tests.
const quiet: WebhookDeps['horizon'] = { quietSeconds: 0.2, longestSeconds: 0.4 };

function work(id: string) {
  const deps: WebhookDeps = {
    db: database.db,
    connect: guardedConnector({ allowedHosts: ['127.0.0.1'] }, 2_000),
    encryptionKeys: api.config.encryptionKeys,
    clock: () => new Date(),
    tell: (tx, mail) => api.app.tellMembers(tx, mail),
    dispatchSoon: () => undefined,
    idleMs: 0,
    horizon: quiet,
  };
  return deliverWebhooks(deps, id, new AbortController().signal);
}

const record = (name: string, at = 'now()', id: string = randomUUID()) =>
  database.db.count(`insert into events (id, project_id, name, created_at) values ($3, $1, $2, ${at})`, [
    project.id,
    name,
    id,
  ]);

/** Runs one of the checks that the reconciler makes every minute. */
async function reconcile(name: string): Promise<number | undefined> {
  const checks = reconcileChecks({ db: database.db, config: api.config } as never, {} as never);
  return checks.find((check) => check.name === name)?.run(null);
}

async function connected(applicationName: string): Promise<Client> {
  const client = new Client({ connectionString: database.url, application_name: applicationName });
  await client.connect();
  return client;
}

/** How far the feed of an endpoint has come, relative to the beginning of a transaction. */
const isBefore = async (id: string, instant: string) =>
  (
    await database.db.row<{ before: boolean }>(
      `select cursor_at <= $2::timestamptz as before from webhook_endpoints where id = $1`,
      [id, instant],
    )
  )?.before;

for (const applicationName of ['fernpost-worker', 'psql'])
  test(`a transaction of ${applicationName} that waits for a lock for long holds back the feed until it has written`, async () => {
    project = await aProject(database);
    await using receiver = await startReceiver();
    const id = await anEndpoint(receiver.port);
    const [index, writer] = await Promise.all([connected('psql'), connected(applicationName)]);
    try {
      // As `create index` on the table does, which keeps writers away.
      await index.query('begin; lock table emails in share mode');
      await writer.query('begin');
      const { rows } = await writer.query<{ began: string }>('select now()::text as began');
      const began = rows[0]?.began ?? '';
      const waits = writer
        .query('lock table emails in row exclusive mode')
        .then(() =>
          writer.query(`insert into events (id, project_id, name) values ($1, $2, 'late')`, [randomUUID(), project.id]),
        );
      await expect
        .poll(() =>
          database.db.rows(
            `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
          ),
        )
        .toHaveLength(1);
      // Older than the margin of the horizon, than a reader that counts, and than any other transaction that does.
      await database.db.rows('select pg_sleep(3)');
      await record('early');
      await work(id);
      expect(await isBefore(id, began)).toBe(true);
      await index.query('commit');
      await waits;
      await writer.query('commit');
      await expect
        .poll(async () => {
          await work(id);
          return receiver.requests.map(({ body }) => JSON.parse(body).type);
        })
        .toEqual(['late', 'early']);
      expect((await call('GET', `/${id}/audit`)).body).toMatchObject({ events: 2, delivered: 2, addsUp: true });
    } finally {
      await Promise.all([index.end(), writer.end()]);
    }
  });

test.each(['pg_dump', 'fernpost-reads'])(
  'a transaction of our own holds back the feed before it has written, and one of %s that reads does not',
  async (reading) => {
    project = await aProject(database);
    await using receiver = await startReceiver();
    const id = await anEndpoint(receiver.port);
    const [ours, dump] = await Promise.all([connected('fernpost-worker'), connected(reading)]);
    try {
      const began: string[] = [];
      for (const client of [dump, ours]) {
        await client.query('begin');
        const { rows } = await client.query<{ began: string }>(
          `select (now() - interval '3 seconds')::text as began from events`,
        );
        began.push(rows[0]?.began ?? '');
        const now = await client.query<{ began: string }>(`select now()::text as began`);
        began[began.length - 1] = now.rows[0]?.began ?? '';
        await database.db.rows('select pg_sleep(3)');
      }
      await work(id);
      expect(await isBefore(id, began[1] ?? '')).toBe(true);
      await ours.query('rollback');
      await expect
        .poll(async () => {
          await work(id);
          return isBefore(id, began[0] ?? '');
        })
        .toBe(false);
    } finally {
      await Promise.all([ours.end(), dump.end()]);
    }
  },
);

test('what appears behind the cursor, as when the clock of Postgres was set back, is queued by the second look', async () => {
  project = await aProject(database);
  await using receiver = await startReceiver();
  const wide = await anEndpoint(receiver.port);
  const narrow = await anEndpoint(receiver.port, ['order.paid']);
  // The cursor is ahead of the clock by half an hour.
  await database.db.count(
    `update webhook_endpoints set cursor_at = now() + interval '30 minutes', counted_from = now() - interval '1 hour' where project_id = $1`,
    [project.id],
  );
  await record('order.paid');
  await record('order.placed', `now() - interval '19 minutes'`);
  await record('order.paid', `now() - interval '21 minutes'`);
  await work(wide);
  expect(receiver.requests).toHaveLength(0);
  expect(await reconcile('events behind the feed of webhooks')).toBe(3);
  expect(await reconcile('events behind the feed of webhooks')).toBe(0);
  await work(wide);
  await work(narrow);
  const delivered = receiver.requests.map(
    ({ headers, body }) => `${headers['webhook-sequence']} ${JSON.parse(body).type}`,
  );
  expect(delivered.toSorted()).toEqual(['1 order.paid', '1 order.placed', '2 order.paid']);
});

test('the second look never queues what an endpoint did not subscribe to at the time', async () => {
  project = await aProject(database);
  await using receiver = await startReceiver();
  const id = await anEndpoint(receiver.port, ['order.paid']);
  await database.db.count(
    `update webhook_endpoints set cursor_at = now() - interval '5 minutes', counted_from = now() - interval '1 hour' where id = $1`,
    [id],
  );
  await record('order.placed', `now() - interval '10 minutes'`);
  expect((await call('PATCH', `/${id}`, { events: ['order.*'] })).status).toBe(200);
  expect(await reconcile('events behind the feed of webhooks')).toBe(0);
});

test('an audit that does not add up is a figure for the alert, until the events are replayed', async () => {
  project = await aProject(database);
  await using receiver = await startReceiver();
  const id = await anEndpoint(receiver.port, ['order.*']);
  await database.db.count(
    `update webhook_endpoints set cursor_at = now() - interval '1 minute', counted_from = now() - interval '3 hours' where id = $1`,
    [id],
  );
  const figure = async () =>
    /^fernpost_webhook_events_missing (\d+)$/m.exec(await createHttpMetrics(database.db).text())?.[1];
  await record('order.paid', `now() - interval '2 hours'`);
  // Those of other tests have been audited within the hour.
  await database.db.count('update webhook_endpoints set audited_at = now(), missing = 0 where id <> $1', [id]);
  expect(await reconcile('webhook endpoints that lack events')).toBe(1);
  expect((await call('GET', `/${id}/audit`)).body).toMatchObject({ events: 1, delivered: 0, addsUp: false });
  expect(await figure()).toBe('1');
  await call('POST', `/${id}/replay`, { since: new Date(Date.now() - 3 * 3_600_000).toISOString() });
  await work(id);
  expect(receiver.requests).toHaveLength(1);
  expect(await reconcile('webhook endpoints that lack events')).toBe(0);
  expect(await figure()).toBe('0');
  // The event of a contact who was erased is no event that is missing.
  await database.db.count(`delete from events where project_id = $1`, [project.id]);
  expect((await call('GET', `/${id}/audit`)).body).toMatchObject({ events: 0, delivered: 1, addsUp: true });
});
