import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bodyLimits } from '../../../src/http/body.ts';
import { routes } from '../../../src/main/api/routes.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

const kilobyte = 1024;

let database: TestDatabase;
let api: TestApi;
let project: TestProject;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
  project = await aProject(database);
});
afterAll(async () => {
  await api.close();
  await database.close();
});

const keyless = routes.filter(({ access, body }) => access === 'none' && body !== undefined);

describe('a body that needs no key', () => {
  test('has a limit of a few kilobytes on every route that parses it', () => {
    expect(keyless.map(({ path }) => path)).toContain('/auth/login');
    for (const { path, bodyLimit = 'form' } of keyless)
      expect(bodyLimits[bodyLimit].bytes, path).toBeLessThanOrEqual(16 * kilobyte);
  });

  test.each(keyless)('over the limit is a 413 at $method $path', async ({ method, path }) => {
    const body = `{"email":"ada@example.com","z":[${'{},'.repeat(100_000)}{}]}`;
    const answer = await api.call(null, method, path, body);
    expect([answer.status, answer.body.error.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    expect(answer.body.error.details).toEqual({ limitBytes: 16 * kilobyte });
    expect(answer.body.error.message).toBe('The body is larger than 16 kB');
  });

  test('over the limit is a 413 when its length is not announced, and the connection serves on', async () => {
    const answers = await Promise.all([chunked('/auth/login', 5_000_000), chunked('/auth/login', 100)]);
    expect(answers).toEqual([413, 422]);
  });

  test.each([
    ['two million levels', `${'['.repeat(7_000)}"\\u0000"${']'.repeat(7_000)}`, 'nested deeper than 64 levels'],
    ['many values', `{"z":[${'0,'.repeat(1_000)}0]}`, 'more than 1000 values'],
  ])('of %s is a 400', async (_, body, words) => {
    const answer = await api.call(null, 'POST', '/auth/login', body);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'INVALID_REQUEST_BODY']);
    expect(answer.body.error.message).toContain(words);
  });
});

describe('a body that comes with a key', () => {
  test('may have 256 kB on /v1/track and 64 levels', async () => {
    const event = (padding: number) =>
      `{"email":"ada@example.com","event":"e"${' '.repeat(padding)},"data":{"a":${'['.repeat(62)}${']'.repeat(62)}}}`;
    const fits = 256 * kilobyte - event(0).length;
    expect((await api.call(project.publicKey, 'POST', '/v1/track', event(fits))).status).toBe(200);
    const large = await api.call(project.publicKey, 'POST', '/v1/track', event(fits + 1));
    expect([large.status, large.body.error.details]).toEqual([413, { limitBytes: 256 * kilobyte }]);
    const deep = event(0).replace('[', '[[').replace(']', ']]');
    expect((await api.call(project.publicKey, 'POST', '/v1/track', deep)).status).toBe(400);
  });

  test('is deep beyond all measure: two million levels with U+0000 at the end', async () => {
    const body = `{"to":"ada@example.com","data":{"a":${'['.repeat(2_000_000)}"\\u0000"${']'.repeat(2_000_000)}}}`;
    const answer = await api.call(project.secretKey, 'POST', '/v1/send', body);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'INVALID_REQUEST_BODY']);
  });

  test('waits for others of its project to be read, and none of it is lost', async () => {
    const message = JSON.stringify({ to: [], from: project.sender, subject: 's', body: 'x' });
    const body = message + ' '.repeat(20 * 1024 * kilobyte);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => api.call(project.secretKey, 'POST', '/v1/send', body)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
  });
});

describe('recipients of /v1/send', () => {
  const send = (on: TestApi, own: TestProject, count: number) =>
    on.call(own.secretKey, 'POST', '/v1/send', {
      to: Array.from({ length: count }, (_, index) => `many${index}@example.net`),
      from: own.sender,
      subject: 'Hello',
      body: '<p>Hello</p>',
    });

  test('are a thousand at most', async () => {
    expect((await send(api, project, 1_000)).body.data.emails).toHaveLength(1_000);
    const more = await send(api, project, 1_001);
    expect([more.status, more.body.error.errors]).toEqual([
      422,
      [{ field: 'to', code: 'too_big', message: 'must have at most 1000 recipients' }],
    ]);
  });

  test('count as requests in the rate window, over all processes', async () => {
    await using one = await testApi(database, { RATE_LIMIT_PER_MINUTE: '100' });
    await using two = await testApi(database, { RATE_LIMIT_PER_MINUTE: '100' });
    const own = await aProject(database);
    const first = await send(one, own, 40);
    expect([first.status, first.headers.get('ratelimit-remaining')]).toEqual([200, '60']);
    expect((await send(one, own, 50)).headers.get('ratelimit-remaining')).toBe('10');
    const over = await send(one, own, 20);
    expect([over.status, over.headers.get('ratelimit-remaining')]).toEqual([429, '9']);
    expect((await one.call(own.secretKey, 'GET', '/contacts')).headers.get('ratelimit-remaining')).toBe('8');
    const sent = await database.db.row<{ mails: number }>(
      'select count(*)::integer as mails from emails where project_id = $1',
      [own.id],
    );
    expect(sent).toEqual({ mails: 90 });
    const other = await aProject(database);
    const storm = await Promise.all([one, two, one, two, one, two].map((each) => send(each, other, 30)));
    // Three of 30 fit into 100; the third may find its room split between the leases of the two processes.
    const accepted = storm.filter(({ status }) => status === 200).length;
    expect([2, 3]).toContain(accepted);
    expect(storm.filter(({ status }) => status === 429)).toHaveLength(6 - accepted);
    const tooMany = await send(two, await aProject(database), 101);
    expect(tooMany.body.error.suggestion).toBe('Name fewer than 100 recipients in one request.');
  });

  test('of a request that is refused leave its Idempotency-Key unused', async () => {
    await using limited = await testApi(database, { RATE_LIMIT_PER_MINUTE: '10' });
    const own = await aProject(database);
    const keyed = (to: string[]) =>
      limited.call(
        own.secretKey,
        'POST',
        '/v1/send',
        { to, from: own.sender, subject: 'Hello', body: '<p>Hello</p>' },
        { 'idempotency-key': 'once' },
      );
    expect((await keyed(Array(20).fill('a@example.net'))).status).toBe(429);
    expect((await keyed(['a@example.net'])).status).toBe(200);
  });
});

async function chunked(path: string, bytes: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(`${api.url}${path}`, { method: 'POST', headers: { 'content-type': 'application/json' } });
    sent.on('response', (response) => resolve(response.resume().statusCode));
    sent.on('error', reject);
    sent.write('{"email":"');
    sent.end(`${'x'.repeat(bytes)}"}`);
  });
}
