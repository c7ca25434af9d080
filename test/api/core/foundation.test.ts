import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

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

describe('authentication', () => {
  test.each([
    ['no header on /v1', 'POST', '/v1/send', undefined, 401, 'MISSING_AUTH'],
    ['no header on a dashboard path', 'GET', '/contacts', undefined, 401, 'UNAUTHORIZED'],
    ['a header of another scheme', 'GET', '/contacts', 'Basic abc', 401, 'MISSING_AUTH'],
    ['a header of three parts', 'GET', '/contacts', 'Bearer a b', 401, 'MISSING_AUTH'],
    ['an unknown key', 'GET', '/contacts', 'Bearer sk_unknown', 401, 'INVALID_API_KEY'],
  ])('%s is refused', async (_, method, path, authorization, status, code) => {
    const answer = await api.call(
      null,
      method,
      path,
      method === 'POST' ? {} : undefined,
      authorization ? { authorization } : {},
    );
    expect(answer.status).toBe(status);
    expect(answer.body.error.code).toBe(code);
    expect(answer.body.error.requestId).toBe(answer.headers.get('x-request-id'));
  });

  test('each key opens only its endpoints', async () => {
    const event = { email: 'x.0.lee@example.com', event: 'opened_app' };
    expect((await api.call(project.secretKey, 'POST', '/v1/track', event)).body.error.code).toBe('INVALID_API_KEY');
    expect((await api.call(project.publicKey, 'GET', '/contacts')).body.error.code).toBe('INVALID_API_KEY');
    expect((await api.call(project.publicKey, 'POST', '/v1/send', {})).body.error.code).toBe('INVALID_API_KEY');
    expect((await api.call(project.publicKey, 'POST', '/v1/track', event)).status).toBe(200);
    const upper = await api.call(null, 'GET', '/contacts', undefined, { authorization: `BEARER ${project.secretKey}` });
    expect(upper.status).toBe(200);
  });

  test('a disabled project can be read but not written, and the change is seen without a restart', async () => {
    const own = await aProject(database);
    expect((await api.call(own.secretKey, 'POST', '/contacts', { email: '2.jo@example.com' })).status).toBe(201);
    await database.db.count('update projects set disabled = true where id = $1', [own.id]);
    await expect
      .poll(
        async () =>
          (await api.call(own.secretKey, 'POST', '/contacts', { email: '2.jo@example.com' })).body.error?.code,
      )
      .toBe('PROJECT_DISABLED');
    expect((await api.call(own.secretKey, 'GET', '/contacts')).status).toBe(200);
  });

  test('a rotated key stops working', async () => {
    const own = await aProject(database);
    expect((await api.call(own.secretKey, 'GET', '/contacts')).status).toBe(200);
    await database.db.count(`update projects set secret_key_hash = 'rotated' where id = $1`, [own.id]);
    await expect.poll(async () => (await api.call(own.secretKey, 'GET', '/contacts')).status).toBe(401);
  });
});

describe('requests and answers', () => {
  test('a request id that is a UUID is kept, anything else replaced', async () => {
    const id = '5b1c0a3e-8f8e-4a4e-9b0e-2f9f9d0c7a11';
    expect(
      (await api.call(null, 'GET', '/health', undefined, { 'x-request-id': id })).headers.get('x-request-id'),
    ).toBe(id);
    const other = await api.call(null, 'GET', '/health', undefined, { 'x-request-id': 'mine' });
    expect(other.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  test.each([
    ['GET', '/nothing/here', null],
    ['PATCH', '/v1/send', 'POST'],
    ['PUT', '/contacts', 'GET, HEAD, POST'],
    ['DELETE', '/contacts/lookup', 'POST'],
    ['DELETE', '/events/names', 'GET, HEAD'],
  ])('%s %s is an unknown route, without a key', async (method, path, allowed) => {
    const answer = await api.call(null, method, path);
    expect([answer.status, answer.body.error.code]).toEqual([404, 'RESOURCE_NOT_FOUND']);
    expect(answer.headers.get('allow')).toBe(allowed);
  });

  test.each([
    ['DELETE', '/health', 'GET, HEAD'],
    ['PUT', '/templates', 'GET, HEAD, POST'],
    ['DELETE', `/campaigns/${randomUUID()}/send`, 'POST'],
    ['DELETE', '/auth/login', 'GET, HEAD, POST'],
    ['PATCH', '/templates/preview/', 'POST'],
    ['GET', '/workflows/bulk-update', 'POST'],
    ['POST', '/docs', 'GET, HEAD'],
    ['POST', '/downloads/sdk.tgz', 'GET, HEAD'],
    ['POST', '/app/contacts', 'GET, HEAD'],
  ])('%s %s names the methods that the path has, without a key', async (method, path, allowed) => {
    const answer = await api.call(null, method, path);
    expect([answer.status, answer.body.error.code]).toEqual([405, 'METHOD_NOT_ALLOWED']);
    expect(answer.headers.get('allow')).toBe(allowed);
  });

  test.each(['/contacts', '/activity', '/workflows', '/suppressions/emails', '/uploads'])(
    'an empty cursor of %s is the first page',
    async (path) => {
      const first = await api.call(project.secretKey, 'GET', path);
      const empty = await api.call(project.secretKey, 'GET', `${path}?cursor=`);
      expect([empty.status, empty.body]).toEqual([200, first.body]);
      expect((await api.call(project.secretKey, 'GET', `${path}?cursor=nonsense`)).status).toBe(400);
    },
  );

  test.each(['/contacts/', '/Contacts', '/CONTACTS/'])('%s is /contacts', async (path) => {
    expect((await api.call(project.secretKey, 'GET', path)).status).toBe(200);
  });

  test.each([
    ['malformed JSON', '{"email":', 400, 'INVALID_REQUEST_BODY'],
    ['a JSON text that is no object', '"hello"', 400, 'INVALID_REQUEST_BODY'],
    ['an array', '[]', 422, 'VALIDATION_ERROR'],
    ['U+0000 in a string', '{"email":"ada@example.com","event":"a\\u0000b"}', 422, 'VALIDATION_ERROR'],
  ])('%s is refused by name', async (_, body, status, code) => {
    const answer = await api.call(project.publicKey, 'POST', '/v1/track', body);
    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
  });

  test('a form that was sent in place of JSON is named, also where the answer is bare', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const bare = await api.call(project.secretKey, 'POST', '/contacts', 'email=ada@example.com', form);
    expect([bare.status, Object.keys(bare.body)]).toEqual([400, ['error']]);
    expect(bare.body.error).toContain('application/json');
    const full = await api.call(project.secretKey, 'POST', '/v1/send', 'to=ada@example.com', form);
    expect(full.body.error.suggestion).toContain('application/json');
  });

  test('a byte order mark is ignored, and a compressed body is refused by its encoding', async () => {
    const marked = await api.call(project.secretKey, 'POST', '/contacts', '\ufeff{"email":"mark@example.com"}');
    expect([marked.status, marked.body.email]).toEqual([201, 'mark@example.com']);
    const gzip = { 'content-encoding': 'gzip' };
    const packed = await api.call(project.secretKey, 'POST', '/contacts', '{"email":"gzip@example.com"}', gzip);
    expect([packed.status, packed.body.error.code]).toEqual([400, 'INVALID_REQUEST_BODY']);
    expect(packed.body.error.message).toContain('gzip');
  });

  test('U+0000 is reported at its place', async () => {
    const answer = await api.call(
      project.publicKey,
      'POST',
      '/v1/track',
      '{"email":"ada@example.com","event":"e","data":{"a":["\\u0000"]}}',
    );
    expect(answer.body.error.errors).toEqual([expect.objectContaining({ field: 'data.a.0', code: 'invalid_string' })]);
  });

  test('a body of another content type is not read, and the answer says so', async () => {
    const answer = await api.call(project.publicKey, 'POST', '/v1/track', '{"email":"ada@example.com","event":"e"}', {
      'content-type': 'text/plain',
    });
    expect(answer.status).toBe(422);
    expect(answer.body.error.suggestion).toContain('Content-Type');
  });

  test('a body without a content type is read as JSON', async () => {
    const status = await new Promise((resolve, reject) => {
      const sent = request(`${api.url}/v1/track`, {
        method: 'POST',
        headers: { authorization: `Bearer ${project.publicKey}` },
      });
      sent.on('response', (response) => resolve(response.resume().statusCode));
      sent.on('error', reject);
      sent.end('{"email":"ada@example.com","event":"e"}');
    });
    expect(status).toBe(200);
  });

  test('a body over the limit is a 413 that names the limit, even when its length is not announced', async () => {
    const big = 'x'.repeat(61 * 1024 * 1024);
    const answer = await api.call(project.secretKey, 'POST', '/v1/send', big);
    expect([answer.status, answer.body.error.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    expect(answer.body.error.details.limitBytes).toBe(60 * 1024 * 1024);
  });

  test('an unauthenticated body is never waited for', async () => {
    const status = await new Promise((resolve, reject) => {
      const sent = request(`${api.url}/v1/send`, { method: 'POST', headers: { 'content-length': '52428800' } });
      sent.on('response', (response) => {
        resolve(response.statusCode);
        sent.destroy();
      });
      sent.on('error', reject);
      sent.write('{');
    });
    expect(status).toBe(401);
  });
});

describe('CORS', () => {
  test('/v1 answers any origin, also with errors, and its preflight needs no key', async () => {
    const preflight = await api.call(null, 'OPTIONS', '/v1/track', undefined, { origin: 'https://shop.example' });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
    expect(preflight.headers.get('access-control-allow-headers')).toContain('Idempotency-Key');
    const refused = await api.call(null, 'POST', '/v1/track', {}, { origin: 'https://shop.example' });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, '*']);
    expect(refused.headers.get('access-control-allow-credentials')).toBeNull();
  });

  test('other paths answer the dashboard only', async () => {
    const own = new URL(api.config.PUBLIC_URL).origin;
    const known = await api.call(project.secretKey, 'GET', '/contacts', undefined, { origin: own });
    expect(known.headers.get('access-control-allow-origin')).toBe(own);
    expect(known.headers.get('access-control-allow-credentials')).toBe('true');
    const foreign = await api.call(project.secretKey, 'GET', '/contacts', undefined, {
      origin: 'https://evil.example',
    });
    expect(foreign.status).toBe(200);
    expect(foreign.headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('idempotency keys', () => {
  const event = (name: string) => ({ email: '3.max@kunde.example', event: name });

  test('a key is used once, on either endpoint, whatever the body', async () => {
    const headers = { 'idempotency-key': 'receipt-1234' };
    expect((await api.call(project.publicKey, 'POST', '/v1/track', event('one'), headers)).status).toBe(200);
    const again = await api.call(project.publicKey, 'POST', '/v1/track', event('two'), headers);
    expect(again.status).toBe(409);
    expect(again.body.error).toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
      details: { key: 'receipt-1234', originalRequest: 'POST /v1/track', originalStatusCode: 200 },
    });
    expect((await api.call(project.secretKey, 'POST', '/v1/send', {}, headers)).status).toBe(409);
    const recorded = await database.db.rows<{ name: string }>(`select name from events where name in ('one', 'two')`);
    expect(recorded.map((row) => row.name)).toEqual(['one']);
  });

  test('a refused request releases its key', async () => {
    const headers = { 'idempotency-key': 'second-try' };
    expect((await api.call(project.publicKey, 'POST', '/v1/track', {}, headers)).status).toBe(422);
    expect((await api.call(project.publicKey, 'POST', '/v1/track', event('third'), headers)).status).toBe(200);
  });

  test('of many requests at once with one key exactly one is served', async () => {
    const headers = { 'idempotency-key': 'storm' };
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => api.call(project.publicKey, 'POST', '/v1/track', event('storm'), headers)),
    );
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 409)).toHaveLength(11);
  });

  test('an expired key is free again', async () => {
    const headers = { 'idempotency-key': 'yesterday' };
    expect((await api.call(project.publicKey, 'POST', '/v1/track', event('old'), headers)).status).toBe(200);
    await database.db.count(
      `update idempotency_keys set expires_at = now() - interval '1 second' where key = 'yesterday'`,
    );
    expect((await api.call(project.publicKey, 'POST', '/v1/track', event('new'), headers)).status).toBe(200);
  });

  test('another project may use the same key, and a key that is none is a 400', async () => {
    const other = await aProject(database);
    const headers = { 'idempotency-key': 'shared' };
    expect((await api.call(project.publicKey, 'POST', '/v1/track', event('a'), headers)).status).toBe(200);
    expect((await api.call(other.publicKey, 'POST', '/v1/track', event('a'), headers)).status).toBe(200);
    const long = await api.call(other.publicKey, 'POST', '/v1/track', event('a'), {
      'idempotency-key': 'k'.repeat(256),
    });
    expect([long.status, long.body.error.code]).toEqual([400, 'BAD_REQUEST']);
    const empty = await api.call(other.publicKey, 'POST', '/v1/track', event('a'), { 'idempotency-key': '' });
    expect(empty.status).toBe(400);
  });
});

describe('the rate window', () => {
  test('admits exactly the limit over two processes and tells when to come back', async () => {
    await using one = await testApi(database, { RATE_LIMIT_PER_MINUTE: '60' });
    await using two = await testApi(database, { RATE_LIMIT_PER_MINUTE: '60' });
    const own = await aProject(database);
    const statuses: number[] = [];
    for (let round = 0; round < 7; round++) {
      const answers = await Promise.all(
        [one, two].flatMap((each) => Array.from({ length: 5 }, () => each.call(own.secretKey, 'GET', '/contacts'))),
      );
      statuses.push(...answers.map((answer) => answer.status));
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(60);
    const refused = await one.call(own.secretKey, 'GET', '/contacts');
    expect([refused.status, refused.body.error.code]).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
    expect(refused.headers.get('retry-after')).toBe(String(refused.body.error.details.retryAfter));
    expect(refused.headers.get('ratelimit-remaining')).toBe('0');
  });

  test('counts down in the headers and leaves other projects alone', async () => {
    await using limited = await testApi(database, { RATE_LIMIT_PER_MINUTE: '100' });
    const [own, other] = [await aProject(database), await aProject(database)];
    const remaining = [];
    for (let i = 0; i < 3; i++)
      remaining.push((await limited.call(own.secretKey, 'GET', '/contacts')).headers.get('ratelimit-remaining'));
    expect(remaining).toEqual(['99', '98', '97']);
    expect((await limited.call(other.secretKey, 'GET', '/contacts')).headers.get('ratelimit-remaining')).toBe('99');
    expect((await limited.call(null, 'GET', '/health')).headers.get('ratelimit-limit')).toBeNull();
  });
});

describe('the service about itself', () => {
  test('is healthy and ready', async () => {
    expect((await api.call(null, 'GET', '/health')).body).toEqual({ status: 'ok' });
    await expect
      .poll(async () => (await api.call(null, 'GET', '/ready')).body)
      .toEqual({ status: 'ok', checks: { postgres: 'ok', temporal: 'ok' } });
  });

  test('says which part is away, and accepts nonetheless', async () => {
    await using alone = await testApi(database, { TEMPORAL_ADDRESS: '127.0.0.1:9' });
    const checks = { postgres: 'ok', temporal: expect.stringContaining('127.0.0.1:9') };
    await expect
      .poll(() => alone.call(null, 'GET', '/ready'))
      .toMatchObject({ status: 503, body: { status: 'unavailable', checks } });
    await expect
      .poll(() => alone.call(null, 'GET', '/ready?ignore=temporal'))
      .toMatchObject({ status: 200, body: { status: 'ok', checks } });
    expect((await alone.call(null, 'GET', '/ready?ignore=postgres')).status).toBe(422);
    const sent = await alone.call(project.secretKey, 'POST', '/v1/send', {
      to: 'x.1.anna@kunde.example',
      from: project.sender,
      subject: 'Hello',
      body: '<p>Hello</p>',
    });
    expect(sent.status).toBe(200);
  });

  test('gives a description of its API', async () => {
    const document = (await api.call(null, 'GET', '/openapi.json')).body;
    expect(document.openapi).toBe('3.1.0');
    const { schemas } = document.components;
    expect(document.paths['/v1/send'].post.requestBody.content['application/json'].schema).toEqual({
      $ref: '#/components/schemas/SendEmailRequest',
    });
    expect(schemas.SendEmailRequest.properties).toHaveProperty('attachments');
    expect(document.paths['/contacts/{id}'].get.parameters[0]).toMatchObject({
      name: 'id',
      in: 'path',
      required: true,
    });
    // What the API takes must pass the reference: addresses in any letter case, no body where nothing is needed.
    const { post } = document.paths['/campaigns'];
    const { pattern } = schemas.CreateCampaignRequest.properties.from;
    expect('Ada.Lovelace@Example.COM').toMatch(new RegExp(pattern));
    expect(post.requestBody.required).toBe(true);
    expect(document.paths['/campaigns/{id}/send'].post.requestBody.required).toBe(false);
    const file = document.paths['/campaigns/{id}/recipients'].get.responses['200'].content;
    expect(Object.keys(file)).toEqual(['application/json', 'text/csv']);
    const parameters: { name: string; schema: { enum?: string[] } }[] = document.paths['/campaigns'].get.parameters;
    expect(parameters.find(({ name }) => name === 'status')?.schema.enum).toContain('SCHEDULED');
    // Clients that are made from it have to expect what comes: two statuses of success, bare errors.
    const { responses } = document.paths['/contacts'].post;
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['200', '201']));
    expect(responses['400']).toEqual({ $ref: '#/components/responses/AnyError400' });
    expect(responses['401']).toEqual({ $ref: '#/components/responses/Error401' });
    expect(schemas.AnyError.required).toEqual(['error']);
    const docs = await api.call(null, 'GET', '/docs');
    expect(docs.status).toBe(200);
    expect(docs.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect((await api.call(null, 'GET', '/docs/reference/emails')).status).toBe(200);
    expect((await api.call(null, 'GET', '/docs/assets/docs.js')).headers.get('content-type')).toContain('javascript');
    for (const [path, type] of [
      ['/docs/llms.txt', 'text/plain'],
      ['/docs/quick-start.md', 'text/markdown'],
      ['/docs/reference/emails.md', 'text/markdown'],
    ] as const)
      expect((await api.call(null, 'GET', path)).headers.get('content-type'), path).toBe(`${type}; charset=utf-8`);
    const index = await fetch(`${api.url}/docs/search.json`);
    expect(index.headers.get('content-type')).toContain('application/json');
    expect(Object.keys((await index.json()) as object)).toEqual(['options', 'entries']);
    expect(index.headers.get('content-encoding')).toBe('gzip');
    const plain = await fetch(`${api.url}/docs/operations`, { headers: { 'Accept-Encoding': 'identity' } });
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(await plain.text()).toContain('<h1>Operating Fernpost</h1>');
    const known = { 'If-None-Match': index.headers.get('etag') ?? '' };
    expect((await fetch(`${api.url}/docs/search.json`, { headers: known })).status).toBe(304);
    const picture = await fetch(`${api.url}/docs/pictures/journeys-why.webp`);
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/webp']);
    expect((await fetch(`${api.url}/docs/pictures/nothing.webp`)).status).toBe(404);
    expect((await api.call(null, 'GET', '/docs/nothing')).status).toBe(404);
    expect((await api.call(null, 'GET', '/docs/nothing.md')).status).toBe(404);
  });
});
