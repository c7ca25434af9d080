import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { guardedConnector } from '../../../src/http/guarded-requests/guard.ts';
import { deliverWebhooks, type WebhookDeps } from '../../../src/insight/webhooks/deliver.ts';
import { endpointsWithWork } from '../../../src/insight/webhooks/feed.ts';
import { insertMissed } from '../../../src/insight/webhooks/retries.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { type Answering, type Receiver, startReceiver } from '../../support/receiver.ts';

let database: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database, { WEBHOOK_ALLOWED_HOSTS: '127.0.0.1' });
});
afterAll(async () => {
  await api.close();
  await database.close();
});

const call = (project: TestProject, method: string, path: string, body?: unknown) =>
  api.call(project.secretKey, method, `/webhook-endpoints${path}`, body);

async function anEndpoint(project: TestProject, receiver: Receiver, more: object = {}) {
  const answer = await call(project, 'POST', '', {
    url: `http://127.0.0.1:${receiver.port}/hook`,
    events: ['*'],
    ...more,
  });
  expect(answer.status).toBe(201);
  return answer.body as { id: string; secret: string };
}

/** Events as `/v1/track` stores them, stamped so long ago that nothing can come before them any more. */
async function happened(project: TestProject, names: readonly string[], data: object = {}): Promise<string[]> {
  const rows = await database.db.rows<{ id: string }>(
    `insert into events (id, project_id, name, data, created_at)
     select gen_random_uuid(), $1, name, $3, now() - interval '10 seconds' + n * interval '1 millisecond'
     from unnest($2::text[]) with ordinality as t (name, n) returning id`,
    [project.id, names, JSON.stringify(data)],
  );
  return rows.map(({ id }) => id);
}
/** Lets an endpoint begin before the events of `happened`. */
const beginEarlier = (id: string) =>
  database.db.count(
    `update webhook_endpoints set cursor_at = now() - interval '1 minute', counted_from = now() - interval '1 minute' where id = $1`,
    [id],
  );

const deps = (): WebhookDeps => ({
  db: database.db,
  connect: guardedConnector({ allowedHosts: ['127.0.0.1'] }, 2_000),
  encryptionKeys: api.config.encryptionKeys,
  clock: () => new Date(),
  tell: (tx, mail) => api.app.tellMembers(tx, mail),
  dispatchSoon: () => undefined,
  idleMs: 0,
});
const work = (id: string) => deliverWebhooks(deps(), id, new AbortController().signal);
const dueNow = (id: string) =>
  database.db.count(
    `update webhook_deliveries set due_at = now() - make_interval(secs => 1) where endpoint_id = $1 and status = 'PENDING'`,
    [id],
  );
const answering =
  (status: number, headers: Record<string, string> = {}): Answering =>
  (_, response) => {
    response.writeHead(status, headers).end('no');
  };

test('the secret is shown once, and an endpoint of another project is not found', async () => {
  await using receiver = await startReceiver();
  const [project, stranger] = [await aProject(database), await aProject(database)];
  const { id, secret } = await anEndpoint(project, receiver);
  expect(secret).toMatch(/^whsec_[\w+/]{32}$/);
  const { body } = await call(project, 'GET', `/${id}`);
  expect(body).toMatchObject({ id, status: 'ENABLED', payload: 'full', ordered: false, lastSequence: 0 });
  expect(JSON.stringify(body)).not.toContain('secret');
  for (const [method, path, sent] of [
    ['GET', `/${id}`],
    ['PATCH', `/${id}`, { paused: true }],
    ['DELETE', `/${id}`],
    ['POST', `/${id}/rotate-secret`, {}],
    ['POST', `/${id}/test`, {}],
    ['POST', `/${id}/replay`, { since: new Date().toISOString() }],
    ['GET', `/${id}/deliveries`],
    ['GET', `/${id}/deliveries/${randomUUID()}`],
    ['POST', `/${id}/deliveries/${randomUUID()}/redeliver`],
    ['GET', `/${id}/audit`],
    ['GET', `/${id}/replays`],
  ] as const)
    expect((await call(stranger, method, path, sent)).status, `${method} ${path}`).toBe(404);
  expect((await call(stranger, 'GET', '')).body).toEqual([]);
  expect((await call(project, 'DELETE', `/${id}`)).status).toBe(204);
  expect((await call(project, 'GET', `/${id}`)).status).toBe(404);
});

test('an event that never comes is refused with the nearest one, unless the project has tracked it', async () => {
  const project = await aProject(database);
  const create = (events: string[]) => call(project, 'POST', '', { url: 'https://example.com/', events });
  const refused = await create([
    'email.bounce',
    'email.bounced',
    'campaign.*',
    'domain.lots',
    'order.paid',
    'import.x.*',
  ]);
  expect(refused.status).toBe(422);
  expect(refused.body.error.errors).toEqual([
    { field: 'events.1', code: 'invalid_enum_value', message: 'is not an event: did you mean "email.bounce"?' },
    { field: 'events.3', code: 'invalid_enum_value', message: 'is not an event: did you mean "domain.lost"?' },
    { field: 'events.5', code: 'invalid_enum_value', message: 'is not an event: did you mean "import.finished"?' },
  ]);
  await api.call(project.publicKey, 'POST', '/v1/track', { email: 'a@example.com', event: 'import.x' });
  const { status, body } = await create(['import.x', 'email.*']);
  expect(status).toBe(201);
  // What it has already may stay.
  await database.db.count('update webhook_endpoints set events = $2 where id = $1', [body.id, ['domain.old']]);
  const patch = (events: string[]) => call(project, 'PATCH', `/${body.id}`, { events });
  expect((await patch(['domain.old', 'email.open'])).status).toBe(200);
  expect((await patch(['domain.older'])).status).toBe(422);
});

test('what cannot be called or subscribed to is refused by name', async () => {
  const project = await aProject(database);
  const refused = async (more: object) => {
    const { status, body } = await call(project, 'POST', '', { url: 'https://example.com/', events: ['*'], ...more });
    return [status, body.error?.errors?.[0]?.field];
  };
  expect(await refused({ url: 'http://example.com/' })).toEqual([422, 'url']);
  expect(await refused({ url: 'ftp://example.com/' })).toEqual([422, 'url']);
  expect(await refused({ url: 'https://example.com:5432/' })).toEqual([422, 'url']);
  expect(await refused({ url: 'https://user:pass@example.com/' })).toEqual([422, 'url']);
  expect(await refused({ events: [] })).toEqual([422, 'events']);
  expect(await refused({ events: ['email.*.x'] })).toEqual([422, 'events.0']);
  expect(await refused({ from: '2020-01-01T00:00:00Z' })).toEqual([422, 'from']);
  const made = await Promise.all(
    Array.from({ length: 12 }, () => call(project, 'POST', '', { url: 'https://example.com/', events: ['*'] })),
  );
  expect(made.map(({ status }) => status).toSorted()).toEqual([...Array(10).fill(201), 409, 409]);
});

test('events arrive in sequence without a gap, each verified by the library of Standard Webhooks', async () => {
  await using receiver = await startReceiver();
  const project = await aProject(database);
  const { id, secret } = await anEndpoint(project, receiver);
  await beginEarlier(id);
  const events = await happened(
    project,
    Array.from({ length: 120 }, (_, n) => (n % 2 ? 'größe.changed' : 'contact.seen')),
    {
      text: 'Grüße 🐎',
    },
  );
  expect((await endpointsWithWork(database.db)).map((endpoint) => endpoint.id)).toContain(id);
  expect(await work(id)).toMatchObject({ delivered: 120, failed: 0, waitMs: null, isOn: true });
  const verifier = new Webhook(secret);
  for (const { body, headers } of receiver.requests) {
    const payload = verifier.verify(body, headers as Record<string, string>) as {
      data: { event: { id: string; data: object } };
    };
    expect(headers['webhook-id']).toBe(`evt_${payload.data.event.id}`);
    expect(payload.data.event.data).toEqual({ text: 'Grüße 🐎' });
  }
  const sequences = receiver.requests.map(({ headers }) => Number(headers['webhook-sequence']));
  expect(sequences.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 120 }, (_, n) => n + 1));
  expect(receiver.requests.map(({ headers }) => headers['webhook-id']).toSorted()).toEqual(
    events.map((event) => `evt_${event}`).toSorted(),
  );
  const { body: audit } = await call(project, 'GET', `/${id}/audit`);
  expect(audit).toMatchObject({
    events: 120,
    delivered: 120,
    failed: 0,
    pending: 0,
    addsUp: true,
    firstSequence: 1,
    lastSequence: 120,
  });
  const { body: page } = await call(project, 'GET', `/${id}/deliveries?limit=100`);
  const { body: rest } = await call(project, 'GET', `/${id}/deliveries?limit=100&cursor=${page.cursor}`);
  expect([...page.data, ...rest.data].map(({ sequence }) => sequence)).toEqual(
    Array.from({ length: 120 }, (_, n) => 120 - n),
  );
  // Nothing is left to do, and a second execution finds nothing.
  expect(await work(id)).toMatchObject({ delivered: 0 });
  expect(receiver.requests).toHaveLength(120);
});

test('deliveries are listed by type and status, page by page', async () => {
  await using receiver = await startReceiver();
  const project = await aProject(database);
  const { id } = await anEndpoint(project, receiver, { events: ['*'] });
  await beginEarlier(id);
  await happened(project, ['plan.changed', 'plan.ended', 'planet', 'plan.changed', 'a_b', 'axb', 'plan.changed']);
  await work(id);
  const sequencesOf = ({ body }: { body: { data: { sequence: number }[] } }) =>
    body.data.map(({ sequence }) => sequence);
  const list = (query: string) => call(project, 'GET', `/${id}/deliveries?${query}`);
  expect(sequencesOf(await list(''))).toEqual([7, 6, 5, 4, 3, 2, 1]);
  const types = async (query: string) =>
    (await list(query)).body.data.map(({ type }: { type: string }) => type).toSorted();
  expect(await types('type=plan.changed')).toEqual(['plan.changed', 'plan.changed', 'plan.changed']);
  expect(await types('type=plan.*')).toEqual(['plan.changed', 'plan.changed', 'plan.changed', 'plan.ended']);
  expect(await types('type=*')).toHaveLength(7);
  expect(await types('type=a_b')).toEqual(['a_b']);
  expect(await types('type=plan.*&status=DELIVERED')).toHaveLength(4);
  expect((await list('type=plan.*&status=FAILED')).body).toEqual({ data: [], cursor: null, hasMore: false });
  expect((await list('type=p*an')).status).toBe(422);
  const first = await list('type=plan.*&limit=3');
  expect(first.body).toMatchObject({ hasMore: true });
  const second = await list(`type=plan.*&limit=3&cursor=${first.body.cursor}`);
  expect(second.body).toMatchObject({ hasMore: false, cursor: null });
  expect([...sequencesOf(first), ...sequencesOf(second)]).toHaveLength(4);
});

test('a search for a rare type looks at 20,000 deliveries a page, and says that there is more', async () => {
  await using receiver = await startReceiver();
  const project = await aProject(database);
  const { id } = await anEndpoint(project, receiver, { events: ['*'] });
  await database.db.count(
    `insert into webhook_deliveries (id, endpoint_id, sequence, event_id, event_name, event_at, status)
     select uuidv7(), $1, n, uuidv7(), case n when 1 then 'rare' else 'plan.changed' end, now(), 'DELIVERED'
     from generate_series(1, 30000) n`,
    [id],
  );
  const first = (await call(project, 'GET', `/${id}/deliveries?type=rare`)).body;
  expect(first).toMatchObject({ data: [], hasMore: true });
  const second = (await call(project, 'GET', `/${id}/deliveries?type=rare&cursor=${first.cursor}`)).body;
  expect(second.data).toEqual([expect.objectContaining({ type: 'rare', sequence: 1 })]);
  expect(second.hasMore).toBe(false);
});

test('names and prefixes choose among events, with the same result for narrow and wide subscriptions', async () => {
  await using receiver = await startReceiver();
  const project = await aProject(database);
  const narrow = await anEndpoint(project, receiver, { events: ['plan.changed', 'a_b'] });
  const wide = await anEndpoint(project, receiver, { events: ['plan.*', 'a_b'], payload: 'thin' });
  await Promise.all([narrow, wide].map(({ id }) => beginEarlier(id)));
  await happened(project, ['plan.changed', 'plan.ended', 'planet', 'a_b', 'axb', 'plan.changed'], { secret: 1 });
  await work(narrow.id);
  const types = () => receiver.requests.splice(0).map(({ body }) => JSON.parse(body).type);
  expect(types().toSorted()).toEqual(['a_b', 'plan.changed', 'plan.changed']);
  await work(wide.id);
  expect(receiver.requests.every(({ body }) => !body.includes('secret'))).toBe(true);
  expect(types().toSorted()).toEqual(['a_b', 'plan.changed', 'plan.changed', 'plan.ended']);
});

test('new contacts are delivered once under their own ID, beside what an application tracks by that name', async () => {
  await using receiver = await startReceiver();
  const project = await aProject(database);
  const stranger = await aProject(database);
  const wide = await anEndpoint(project, receiver, { events: ['contact.*'] });
  const narrow = await anEndpoint(project, receiver, { events: ['contact.created'], payload: 'thin' });
  const other = await anEndpoint(project, receiver, { events: ['email.*', 'contact.subscribed'] });
  await Promise.all([wide, narrow, other].map(({ id }) => beginEarlier(id)));
  const create = async ({ secretKey }: TestProject, email: string) =>
    (await api.call(secretKey, 'POST', '/contacts', { email, subscribed: false, data: { plan: 'pro' } })).body.id;
  const [ada, bob] = [await create(project, 'ada@example.com'), await create(project, 'bob@example.com')];
  await create(stranger, 'eve@example.com');
  // Written so long ago that nothing can come before it any more.
  await database.db.count(`update contacts set created_at = now() - interval '20 seconds' where id = any ($1)`, [
    [ada, bob],
  ]);
  const [tracked = ''] = await happened(project, ['contact.created'], { mine: true });
  const ids = (await endpointsWithWork(database.db)).map((endpoint) => endpoint.id);
  expect(ids).toEqual(expect.arrayContaining([wide.id, narrow.id]));
  const bodies = () => receiver.requests.splice(0).map(({ body }) => JSON.parse(body));
  for (const { id, expected } of [
    { id: wide.id, expected: { data: { subscribed: false, data: { plan: 'pro' } } } },
    { id: narrow.id, expected: {} },
  ]) {
    expect(await work(id)).toMatchObject({ delivered: 3, failed: 0 });
    const got = bodies().toSorted((one, next) => (one.data.event.id < next.data.event.id ? -1 : 1));
    expect(got.find(({ data }) => data.event.id === ada)).toMatchObject({
      type: 'contact.created',
      data: {
        event: { id: ada, name: 'contact.created', ...expected },
        contact: { id: ada, email: 'ada@example.com' },
      },
    });
    expect(got.map(({ data }) => data.event.id)).toEqual([ada, bob, tracked].toSorted());
    // Nothing is left, and the second check of the last minutes finds nothing either.
    expect(await work(id)).toMatchObject({ delivered: 0 });
    await insertMissed(database.db);
    expect((await call(project, 'GET', `/${id}/audit`)).body).toMatchObject({ events: 3, delivered: 3, addsUp: true });
  }
  expect(await work(other.id)).toMatchObject({ delivered: 0 });
  // A delivery that got lost counts as missing and comes again; so does a replay.
  await database.db.count('delete from webhook_deliveries where endpoint_id = $1 and event_id = $2', [wide.id, bob]);
  expect((await call(project, 'GET', `/${wide.id}/audit`)).body).toMatchObject({ events: 3, addsUp: false });
  await insertMissed(database.db);
  expect(await work(wide.id)).toMatchObject({ delivered: 1 });
  const since = new Date(Date.now() - 60_000).toISOString();
  expect((await call(project, 'POST', `/${wide.id}/replay`, { since })).status).toBe(202);
  expect(await work(wide.id)).toMatchObject({ delivered: 3 });
  expect((await call(project, 'GET', `/${wide.id}/deliveries/${ada}`)).body.body).toContain('"plan":"pro"');
  await api.call(project.secretKey, 'DELETE', `/contacts/${ada}`);
  expect((await call(project, 'GET', `/${wide.id}/deliveries/${ada}`)).body.body).toBeNull();
});

test('an event that commits after later ones is not skipped', async () => {
  await using receiver = await startReceiver();
  const project = await aProject(database);
  const { id } = await anEndpoint(project, receiver);
  const open = await database.db.pool.connect();
  const late = randomUUID();
  try {
    await open.query('begin');
    await open.query(`insert into events (id, project_id, name) values ($1, $2, 'late')`, [late, project.id]);
    await database.db.count(`update webhook_endpoints set cursor_at = now() - interval '1 minute' where id = $1`, [id]);
    await happened(project, ['early']);
    await database.db.count(`insert into events (id, project_id, name) values (gen_random_uuid(), $1, 'later')`, [
      project.id,
    ]);
    await work(id);
    expect(receiver.requests.map(({ body }) => JSON.parse(body).type)).toEqual(['early']);
    await open.query('commit');
  } finally {
    open.release();
  }
  await expect
    .poll(async () => {
      await work(id);
      return receiver.requests.map(({ body }) => JSON.parse(body).type);
    })
    .toEqual(['early', 'late', 'later']);
});

test('a failing endpoint is tried again under the same id and logged; a rotated secret signs twice', async () => {
  const answers = [answering(500), answering(302, { location: 'http://127.0.0.1:1/' }), answering(200)];
  await using receiver = await startReceiver((request, response, number) =>
    answers[number - 1]?.(request, response, number),
  );
  const project = await aProject(database);
  const { id, secret } = await anEndpoint(project, receiver);
  await beginEarlier(id);
  const [eventId] = await happened(project, ['plan.changed']);
  expect(await work(id)).toMatchObject({ delivered: 0, failed: 0 });
  expect((await call(project, 'GET', `/${id}`)).body.failingSince).not.toBeNull();
  await dueNow(id);
  await work(id);
  const { body: rotated } = await call(project, 'POST', `/${id}/rotate-secret`, { overlapHours: 1 });
  await dueNow(id);
  expect(await work(id)).toMatchObject({ delivered: 1 });
  expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([`evt_${eventId}`]));
  const last = receiver.requests.at(-1);
  for (const known of [secret, rotated.secret])
    new Webhook(known).verify(last?.body ?? '', last?.headers as Record<string, string>);
  const { body } = await call(project, 'GET', `/${id}/deliveries/${eventId}`);
  expect(body).toMatchObject({ status: 'DELIVERED', attempts: 3, nextAttemptAt: null, body: last?.body });
  const [{ health }] = (await call(project, 'GET', '?include=health')).body;
  expect(health).toHaveLength(24);
  // Ten seconds ago may have been in the hour before.
  const sums = health.reduce(
    (sum: number[], hour: Record<string, number>) =>
      ['delivered', 'failed', 'pending'].map((name, place) => (sum[place] ?? 0) + (hour[name] ?? 0)),
    [],
  );
  expect(sums).toEqual([1, 0, 0]);
  expect((await call(project, 'GET', '')).body[0]).not.toHaveProperty('health');
  expect(body.log.map(({ statusCode }: { statusCode: number }) => statusCode)).toEqual([500, 302, 200]);
  expect((await call(project, 'GET', `/${id}`)).body.failingSince).toBeNull();
});

test('410 disables the endpoint and its members are told; enabled again, it continues with the event that it refused', async () => {
  let isGone = true;
  await using receiver = await startReceiver((...request) => answering(isGone ? 410 : 200)(...request));
  const project = await aProject(database);
  const { id } = await anEndpoint(project, receiver, { ordered: true });
  await beginEarlier(id);
  await happened(project, ['one', 'two', 'three']);
  expect(await work(id)).toMatchObject({ isOn: false, failed: 0 });
  expect((await call(project, 'GET', `/${id}`)).body).toMatchObject({
    status: 'DISABLED',
    disabledReason: 'The endpoint answered 410 Gone',
  });
  const mails = await database.db.rows(`select from system_mails where kind = 'webhook-disabled'`);
  expect(mails).toHaveLength(1);
  isGone = false;
  expect((await call(project, 'PATCH', `/${id}`, { paused: false })).body).toMatchObject({
    status: 'ENABLED',
    disabledReason: null,
  });
  await work(id);
  expect(receiver.requests.map(({ headers }) => headers['webhook-sequence'])).toEqual(['1', '1', '2', '3']);
  await database.db.count(`update webhook_deliveries set status = 'FAILED' where endpoint_id = $1 and sequence = 2`, [
    id,
  ]);
  const { body: replay } = await call(project, 'POST', `/${id}/replay`, {
    since: new Date(Date.now() - 60_000).toISOString(),
    only: 'failed',
  });
  expect(replay).toMatchObject({ status: 'RUNNING', only: 'failed' });
  await work(id);
  expect(receiver.requests.at(-1)?.headers['webhook-sequence']).toBe('2');
  expect((await call(project, 'GET', `/${id}/replays`)).body).toMatchObject([{ status: 'DONE', requeued: 1 }]);
  expect((await call(project, 'GET', `/${id}/audit`)).body).toMatchObject({ events: 3, delivered: 3, addsUp: true });
});

test('an overloaded endpoint rests as a whole', async () => {
  await using receiver = await startReceiver(answering(503, { 'retry-after': '40' }));
  const project = await aProject(database);
  const { id } = await anEndpoint(project, receiver, { ordered: true });
  await beginEarlier(id);
  await happened(project, ['one', 'two']);
  const { waitMs } = await work(id);
  expect(waitMs).toBeGreaterThan(30_000);
  expect(receiver.requests).toHaveLength(1);
  expect((await call(project, 'GET', `/${id}`)).body.restingUntil).not.toBeNull();
  expect((await endpointsWithWork(database.db)).map((endpoint) => endpoint.id)).not.toContain(id);
});

test('addresses of the inner network are refused at connect time, and the log says so', async () => {
  const project = await aProject(database);
  const { body } = await call(project, 'POST', '', { url: 'https://localhost/', events: ['*'] });
  const { body: tested } = await call(project, 'POST', `/${body.id}/test`, { type: 'plan.changed' });
  expect(tested).toMatchObject({ delivered: false, statusCode: null, error: expect.stringContaining('not public') });
});

test('a test call is signed and part of no sequence', async () => {
  await using receiver = await startReceiver();
  const project = await aProject(database);
  const { id, secret } = await anEndpoint(project, receiver);
  const { body } = await call(project, 'POST', `/${id}/test`, { type: 'plan.changed' });
  expect(body).toMatchObject({ delivered: true, statusCode: 200, answer: '{"ok":true}', error: null });
  const verify = (by: string) => {
    const request = receiver.requests.at(-1);
    new Webhook(by).verify(request?.body ?? '', request?.headers as Record<string, string>);
  };
  verify(secret);
  // Whoever tests before the receiver has the new secret must not be told that its signature is wrong.
  const rotated = await call(project, 'POST', `/${id}/rotate-secret`, { overlapHours: 1 });
  await call(project, 'POST', `/${id}/test`, { type: 'plan.changed' });
  verify(secret);
  verify(rotated.body.secret);
  expect((await call(project, 'GET', `/${id}/deliveries`)).body.data).toEqual([]);
});
