import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mostEventBytes } from '../../../src/contacts/events/queries.ts';
import { mostCatalogueKeys } from '../../../src/contacts/limits.ts';
import { type Answer, aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { putContacts } from '../../support/contacts.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { jobsWorker } from '../../support/jobs.ts';
import { jobDone, uploaded } from '../../support/uploads.ts';
import type { TestWorker } from '../../support/worker.ts';

let database: TestDatabase;
let worker: TestWorker;
let api: TestApi;
let project: TestProject;

beforeAll(async () => {
  database = await testDatabase();
  worker = await jobsWorker(database);
  api = await testApi(database, { TEMPORAL_TASK_QUEUE: worker.queuePrefix });
  project = await aProject(database);
});
afterAll(async () => {
  await api.close();
  await worker.stop();
  await database.close();
});

const kilobyte = 1024;
const keys = (from: number, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${from + index}`, index]));
/** Data of about so many bytes under one key. */
const filling = (key: string, bytes: number) => ({ [key]: 'x'.repeat(bytes) });
const refusalOf = ({ status, body }: Answer) => [status, body.error?.errors?.[0]?.field, body.error?.errors?.[0]?.code];
const tooBig = [422, 'data', 'too_big'];
const dataOf = async (email: string, own = project) =>
  (
    await database.db.row<{ data: Record<string, unknown> }>(
      'select data from contacts where project_id = $1 and email = $2',
      [own.id, email],
    )
  )?.data;

/** The ways to write contact data by request. Each is told the address and the data. */
const writers: [string, (email: string, data: object) => Promise<Answer>][] = [
  ['POST /v1/track', (email, data) => api.call(project.publicKey, 'POST', '/v1/track', { email, event: 'e', data })],
  [
    'POST /events/track',
    (email, data) => api.call(project.secretKey, 'POST', '/events/track', { email, event: 'e', data }),
  ],
  ['POST /contacts', (email, data) => api.call(project.secretKey, 'POST', '/contacts', { email, data })],
  [
    'PATCH /contacts/{id}',
    async (email, data) => {
      const { body } = await api.call(project.secretKey, 'POST', '/contacts', { email });
      return api.call(project.secretKey, 'PATCH', `/contacts/${body.id}`, { data });
    },
  ],
  [
    'POST /v1/send',
    (email, data) =>
      api.call(project.secretKey, 'POST', '/v1/send', {
        to: email,
        from: project.sender,
        subject: 'Hello',
        body: '<p>Hello</p>',
        data,
      }),
  ],
];

describe.each(writers)('%s', (name, write) => {
  const address = (what: string) => `${what}.${name.toLowerCase().replaceAll(/[^a-z]/g, '')}@example.com`;

  test('bounds what a contact has after merging to 256 kB', async () => {
    const email = address('bytes');
    for (let part = 0; part < 5; part++)
      expect((await write(email, filling(`part${part}`, 50 * kilobyte))).status).toBeLessThan(300);
    const refused = await write(email, filling('last', 10 * kilobyte));
    expect(refusalOf(refused)).toEqual(tooBig);
    expect(refused.body.error.message).toContain('256 kB');
    expect(Object.keys((await dataOf(email)) ?? {})).toHaveLength(5);
    // What makes it smaller is let through.
    expect((await write(email, { part0: null })).status).toBeLessThan(300);
    expect((await write(email, filling('last', 10 * kilobyte))).status).toBeLessThan(300);
  });

  test('bounds the keys to 1,000 after merging, and each to 255 characters', async () => {
    const email = address('keys');
    expect((await write(email, keys(0, 1_000))).status).toBeLessThan(300);
    expect(refusalOf(await write(email, { another: 1 }))).toEqual(tooBig);
    expect((await write(email, { k0: null, another: 1 })).status).toBeLessThan(300);
    expect(refusalOf(await write(email, { ['k'.repeat(256)]: 1 }))).toEqual(tooBig);
    expect(Object.keys((await dataOf(email)) ?? {})).toHaveLength(1_000);
  });
});

test('a refused write leaves nothing behind: neither event nor mail nor subscription', async () => {
  const email = 'nothing@example.com';
  await api.call(project.secretKey, 'POST', '/contacts', { email, data: keys(0, 1_000) });
  const before = await database.db.row(
    'select (select count(*) from events) as events, (select count(*) from emails) as emails',
  );
  for (const [, write] of writers) expect(refusalOf(await write(email, { more: 1 }))).toEqual(tooBig);
  expect(
    await database.db.row('select (select count(*) from events) as events, (select count(*) from emails) as emails'),
  ).toEqual(before);
});

test('the data of an event has 64 kB at most, by either way', async () => {
  const event = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });
  for (const [key, path, body] of [
    [project.publicKey, '/v1/track', { email: 'events@example.com', event: 'e' }],
    [project.secretKey, '/events/track', { name: 'e' }],
  ] as const) {
    const call = (data: object) => api.call(key, 'POST', path, { ...body, data });
    expect((await call(event(mostEventBytes))).status).toBeLessThan(300);
    const refused = await call(event(mostEventBytes + 1));
    expect([refusalOf(refused), refused.body.error.message]).toEqual([tooBig, expect.stringContaining('64 kB')]);
    expect(refusalOf(await call({ a: 'ü'.repeat(mostEventBytes / 2) }))).toEqual(tooBig);
  }
});

test('rows of an import that would exceed a limit are its errors, and the others are imported', async () => {
  const own = await aProject(database);
  await api.call(own.secretKey, 'POST', '/contacts', { email: 'full@example.com', data: keys(0, 1_000) });
  const cell = 'x'.repeat(300 * kilobyte);
  const rows = [
    'email,plan',
    'one@example.com,pro',
    'full@example.com,pro',
    `large@example.com,${cell}`,
    'two@example.com,free',
  ];
  const job = await jobDone(api, own, `/contacts/import/${await uploaded(api, own, rows.join('\n'))}`);
  expect(job.result).toMatchObject({ totalRows: 4, successCount: 2, createdCount: 2, failureCount: 2 });
  expect(job.result.errors).toEqual([
    { row: 3, email: 'full@example.com', error: expect.stringContaining('more than 1,000 keys') },
    { row: 4, email: 'large@example.com', error: expect.stringContaining('larger than 256 kB') },
  ]);
  const named = await jobDone(
    api,
    own,
    `/contacts/import/${await uploaded(api, own, `email,${'k'.repeat(256)}\none@example.com,1`)}`,
  );
  expect(named.failedReason).toContain('more than 255 characters');
});

test('a catalogue that is full takes no new keys, and takes them again when others are gone', async () => {
  const own = await aProject(database);
  const write = (data: object, email = 'new@example.com') =>
    api.call(own.publicKey, 'POST', '/v1/track', { email, event: 'e', data });
  const keysOf = (n: number) => Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${n * 500 + i}`, i]));
  const people = Array.from({ length: mostCatalogueKeys / 500 + 1 }, (_, n) => ({
    email: `${n}@example.com`,
    set: keysOf(n),
  }));
  await putContacts(database.db, own.id, people);
  const fields = async () => (await api.call(own.secretKey, 'GET', '/contacts/fields')).body.count - 4;
  expect(await fields()).toBe(mostCatalogueKeys);
  const refused = await write({ brandNew: 1 });
  expect([refusalOf(refused), refused.body.error.message]).toEqual([
    tooBig,
    expect.stringContaining('5000 different keys'),
  ]);
  expect((await write({ k7: 'known', gone: null, empty: '' })).status).toBe(200);
  expect((await write({ k7: 'known' })).status).toBe(200);
  await database.db.count('delete from contacts where project_id = $1 and email ~ $2', [own.id, '^[0-9]']);
  expect(await fields()).toBe(1);
  expect((await write({ brandNew: 1 })).status).toBe(200);
});

describe('contacts and events from before there were limits', () => {
  test('are listed without their data, can be read, and can be made smaller', async () => {
    const own = await aProject(database);
    await database.db.transaction(async (sql) => {
      await sql.count(
        `insert into contacts (id, project_id, email, subscribed, data)
         select uuidv7(), $1, n || '@example.com', true, jsonb_build_object('plan', 'pro', 'x', repeat('x', 6000000))
         from generate_series(1, 4) n`,
        [own.id],
      );
      await sql.count(
        `insert into events (id, project_id, contact_id, name, data)
         select uuidv7(), $1, id, 'old', jsonb_build_object('x', repeat('x', 6000000)) from contacts where project_id = $1`,
        [own.id],
      );
    });
    await api.call(own.publicKey, 'POST', '/v1/track', { email: 'small@example.com', event: 'e', data: { a: 1 } });
    const contacts = await api.call(own.secretKey, 'GET', '/contacts');
    expect(contacts.status).toBe(200);
    expect(contacts.body.data.map(({ data, dataOmitted }: Record<string, unknown>) => [data, dataOmitted])).toEqual([
      [{ a: 1 }, undefined],
      ...Array(4).fill([{}, true]),
    ]);
    const events = await api.call(own.secretKey, 'GET', '/events');
    expect(events.body.events.map(({ data, dataOmitted }: Record<string, unknown>) => [data, dataOmitted])).toEqual([
      [{ a: 1 }, undefined],
      ...Array(4).fill([null, true]),
    ]);
    const old = contacts.body.data[1];
    const path = `/contacts/${old.id}`;
    expect((await api.call(own.secretKey, 'GET', path)).body).toMatchObject({ data: {}, dataOmitted: true });
    expect((await api.call(own.secretKey, 'GET', `/events/contact/${old.id}`)).body.events).toHaveLength(1);
    const values = await api.call(own.secretKey, 'GET', '/contacts/fields/x/values');
    expect([values.status, values.body.values]).toEqual([200, []]);
    const feed = await api.call(own.secretKey, 'GET', '/activity');
    expect([feed.status, JSON.stringify(feed.body).length < 100_000]).toEqual([200, true]);
    expect((await api.call(own.secretKey, 'POST', `/contacts/public/${old.id}/unsubscribe`)).status).toBe(200);
    expect(refusalOf(await api.call(own.secretKey, 'PATCH', path, { data: { more: 1 } }))).toEqual(tooBig);
    expect((await api.call(own.secretKey, 'PATCH', path, { data: { x: null } })).body.data).toEqual({ plan: 'pro' });
  });

  test('many of the largest size are listed with as much data as an answer carries', async () => {
    const own = await aProject(database);
    await database.db.count(
      `insert into contacts (id, project_id, email, subscribed, data)
       select uuidv7(), $1, n || '@example.com', true, jsonb_build_object('x', repeat('x', 250000))
       from generate_series(1, 50) n`,
      [own.id],
    );
    const { body } = await api.call(own.secretKey, 'GET', '/contacts?limit=100');
    const omitted = body.data.map(({ dataOmitted = false }: { dataOmitted?: boolean }) => dataOmitted);
    expect(omitted).toEqual([...Array(33).fill(false), ...Array(17).fill(true)]);
  });
});
