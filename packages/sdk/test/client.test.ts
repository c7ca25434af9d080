import { expect, test, vi } from 'vitest';
import { Fernpost, FernpostError, urlOf, version } from '../src/index.ts';
import { clientOf } from './service.ts';

async function refusalOf(promise: PromiseLike<unknown>): Promise<FernpostError> {
  return promise.then(
    () => expect.fail('it was accepted'),
    (error: FernpostError) => error,
  );
}

test('an error has everything that the envelope says', async () => {
  const envelope = {
    code: 'SCOPE_MISSING',
    message: 'The key lacks a scope',
    details: { needed: 'contacts:read', has: [] },
    suggestion: 'Use another key.',
    errors: [{ field: 'to', message: 'must be an email address', code: 'invalid_string' }],
  };
  const { fernpost } = clientOf([{ status: 403, body: { error: envelope }, headers: { 'X-Request-ID': 'r-1' } }]);
  const error = await refusalOf(fernpost.contacts.get('1'));
  expect(error).toBeInstanceOf(FernpostError);
  const { message, status, code, details, suggestion, fields, requestId } = error;
  expect({ message, status, code, details, suggestion, fields, requestId }).toEqual({
    message: envelope.message,
    status: 403,
    code: 'SCOPE_MISSING',
    details: envelope.details,
    suggestion: 'Use another key.',
    fields: envelope.errors,
    requestId: 'r-1',
  });
});

test.each([
  [400, { error: 'No contact has this address' }, 'BAD_REQUEST', 'No contact has this address'],
  [404, { error: 'Segment not found' }, 'RESOURCE_NOT_FOUND', 'Segment not found'],
  [409, { error: { message: 'Busy' } }, 'CONFLICT', 'Busy'],
  [418, {}, 'HTTP_418', 'The service responded with status 418.'],
  [502, '<h1>Bad gateway</h1>', 'SERVICE_UNAVAILABLE', 'The service responded with status 502.'],
])('an error of status %i without a code has one', async (status, body, code, message) => {
  const { fernpost } = clientOf([{ status, body }], { retries: 0 });
  const error = await refusalOf(fernpost.segments.get('1'));
  expect([error.code, error.message, error.details, error.suggestion, error.fields]).toEqual([
    code,
    message,
    {},
    null,
    [],
  ]);
});

test('a base URL keeps its path, with a slash at its end or without', async () => {
  for (const baseUrl of ['https://acme.com/mail', 'https://acme.com/mail/', 'https://acme.com/mail//?x=1']) {
    const { fernpost, asked } = clientOf([{ body: { data: { emails: [] } } }], { baseUrl });
    await fernpost.send({ to: 'ada@example.com', subject: 'Hi', body: 'Hi' });
    expect(asked[0]?.url.href).toBe('https://acme.com/mail/v1/send');
  }
  expect(urlOf('http://localhost:3000', '/mcp').href).toBe('http://localhost:3000/mcp');
});

test('an address that is none and a missing key are told at once', () => {
  expect(() => new Fernpost({ baseUrl: 'mail.acme.com', key: 'sk_1' })).toThrow('must be an address');
  expect(() => new Fernpost({ baseUrl: 'localhost:3000', key: 'sk_1' })).toThrow('must be an address');
  expect(() => new Fernpost({ baseUrl: 'https://mail.acme.com', key: '' })).toThrow('key is missing');
});

test('an ID that would call another operation makes no request', async () => {
  const { fernpost, asked } = clientOf([{}]);
  for (const id of ['', '.', '..', undefined as unknown as string])
    expect(await refusalOf(fernpost.contacts.delete(id))).toBeInstanceOf(TypeError);
  await expect(fernpost.workflows.getExecution('1', '')).rejects.toThrow('getWorkflowExecution needs executionId');
  expect(asked).toEqual([]);
  await fernpost.contacts.delete('a/b');
  expect(asked[0]?.url.pathname).toBe('/contacts/a%2Fb');
});

test('a response is reachable with its headers, also where a method takes its data out', async () => {
  const headers = {
    ETag: '"7"',
    'X-Request-ID': 'r-2',
    'RateLimit-Limit': '1000',
    'RateLimit-Remaining': '998',
    'RateLimit-Reset': '12',
  };
  const { fernpost, asked } = clientOf([{ body: { data: { id: 'c-1' } }, headers }]);
  const { data, ...told } = await fernpost.campaigns.get('c-1').withResponse();
  expect(data).toEqual({ id: 'c-1' });
  expect(told).toMatchObject({
    status: 200,
    etag: '"7"',
    requestId: 'r-2',
    rateLimit: { limit: 1000, remaining: 998, resetSeconds: 12 },
    ignoredFields: [],
  });
  expect(told.headers.get('etag')).toBe('"7"');
  await fernpost.campaigns.update('c-1', { subject: 'New' }, { ifMatch: told.etag ?? '' });
  expect(asked[1]?.headers.get('if-match')).toBe('"7"');
});

test('a promise that only its response is asked of fails there alone', async () => {
  const { fernpost } = clientOf([{ status: 404, body: { error: 'Not found' } }]);
  await expect(fernpost.contacts.get('1').withResponse()).rejects.toMatchObject({ status: 404 });
  await expect(fernpost.contacts.get('1').catch(() => 'caught')).resolves.toBe('caught');
  const ended = vi.fn();
  await expect(fernpost.contacts.get('1').finally(ended)).rejects.toMatchObject({ status: 404 });
  expect(ended).toHaveBeenCalledOnce();
});

test('what the service ignored is a warning, once, and stands in the response', async () => {
  const header = 'first_name;use="data.firstName", "a b%C3%A9"; use=body, limit;in=query';
  const { fernpost, warnings } = clientOf([{ body: {}, headers: { 'X-Ignored-Fields': header } }]);
  const { ignoredFields } = await fernpost.contacts.upsert({ email: 'ada@example.com' }).withResponse();
  expect(ignoredFields).toEqual([
    { name: 'first_name', use: 'data.firstName', inQuery: false },
    { name: 'a bé', use: 'body', inQuery: false },
    { name: 'limit', use: null, inQuery: true },
  ]);
  await fernpost.contacts.upsert({ email: 'ada@example.com' });
  expect(warnings).toEqual([
    'upsertContact ignored "first_name": use "data.firstName".',
    'upsertContact ignored "a bé": use "body".',
    'upsertContact ignored the query parameter "limit".',
  ]);
});

test('mail to nobody is a warning', async () => {
  const { fernpost, warnings } = clientOf([{ body: { data: { emails: [], results: [] } } }]);
  const mail = { subject: 'Hi', body: 'Hi' };
  await fernpost.send({ ...mail, to: 'ada@example.com' });
  await fernpost.sendBatch({ emails: [{ ...mail, to: ['ada@example.com'] }] });
  expect(warnings).toEqual([]);
  await fernpost.send({ ...mail, to: [] });
  await fernpost.sendBatch({
    emails: [
      { ...mail, to: 'ada@example.com' },
      { ...mail, to: [] },
    ],
  });
  expect(warnings).toEqual([
    'sendEmail has no recipients: "to" is an empty list, and nothing was sent.',
    'sendEmailBatch has no recipients: "to" is an empty list, and nothing was sent.',
  ]);
});

test('domains and keys find out once which project the key belongs to', async () => {
  const { fernpost, asked } = clientOf([
    { body: [{ id: 'p-1' }] },
    { body: [] },
    { body: { id: 'd-1' } },
    { body: [] },
  ]);
  expect((await fernpost.domains.list()).data).toEqual([]);
  await fernpost.domains.create('acme.com');
  await fernpost.keys.list().all();
  expect(asked.map(({ method, url }) => `${method} ${url.pathname}`)).toEqual([
    'GET /users/@me/projects',
    'GET /domains/project/p-1',
    'POST /domains',
    'GET /users/@me/projects/p-1/api-keys',
  ]);
  expect(asked[2]?.body).toEqual({ domain: 'acme.com' });
});

test('names itself and its version, except in a browser, which would ask for leave first', async () => {
  const { fernpost, asked } = clientOf([{}]);
  await fernpost.contacts.get('1');
  vi.stubGlobal('document', {});
  await fernpost.contacts.get('1');
  vi.unstubAllGlobals();
  expect(asked.map(({ headers }) => headers.get('user-agent'))).toEqual([`fernpost-js/${version}`, null]);
});
