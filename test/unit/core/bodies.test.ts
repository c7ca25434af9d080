import { once } from 'node:events';
import { request as begin, createServer, type IncomingMessage, type RequestOptions } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import Koa from 'koa';
import { afterAll, expect, test } from 'vitest';
import { type BodyLimitName, bodyLimits, keyedBudgetSize, RouteBody } from '../../../src/http/body.ts';

test('the largest body fits into a share, however small the heap', () => {
  const largest = Math.max(...Object.values(bodyLimits).map(({ bytes }) => bytes));
  for (const heap of [64, 512, 4_096, 65_536])
    expect(keyedBudgetSize(heap * 1024 * 1024).share).toBeGreaterThanOrEqual(largest);
});

let heard: Promise<object> = Promise.resolve({});
const koa = new Koa();
koa.silent = true;
koa.use(async (ctx) => {
  const body = new RouteBody();
  const name = ctx.path.slice(1) as BodyLimitName;
  const owner = { kind: 'keyed', id: 'ada' } as const;
  heard = Promise.resolve(name === 'recipientForm' ? body.form(ctx, name, owner) : body.json(ctx, name, owner)).catch(
    ({ status, code, message, extra }) => ({ status, code, message, details: extra?.details, errors: extra?.errors }),
  );
  ctx.body = JSON.stringify(await heard);
  body.release();
});
const server = createServer(koa.callback()).listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
afterAll(() => server.close());

async function post(name: BodyLimitName, body: string | Buffer, headers: RequestOptions['headers']): Promise<unknown> {
  const request = begin({ port, host: '127.0.0.1', path: `/${name}`, method: 'POST', headers });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return JSON.parse(Buffer.concat(await response.toArray()).toString());
}

const json = { 'Content-Type': 'application/json' };
const chunked = { ...json, 'Transfer-Encoding': 'chunked' };

// koa-body reads the first of each pair, our own reader the second.
test.each([
  ['an object', '{"a":[1,"ü"]}', json, { value: { a: [1, 'ü'] } }],
  ['an object whose length is not announced', '{"a":1}', chunked, { value: { a: 1 } }],
  ['an array', '[1]', json, { value: [1] }],
  ['nothing', '', json, { value: {} }],
  ['spaces', ' \n', json, { value: {} }],
  ['no content type', '{"a":1}', {}, { value: { a: 1 } }],
  ['parameters that are none', '{"a":1}', { 'Content-Type': 'Application/JSON ;; charset' }, { value: { a: 1 } }],
  ['a type of its own', '{"a":1}', { 'Content-Type': 'application/vnd.acme+json' }, { value: { a: 1 } }],
  ['a byte order mark first', '\ufeff{"a":1}', json, { value: { a: 1 } }],
  ['half of a surrogate pair', '{"a":"\\ud800"}', json, { value: { a: '\ufffd' } }],
  ['the name of the prototype', '{"a":{"__proto__":1}}', json, { value: { a: JSON.parse('{"__proto__":1}') } }],
  ['bytes that are no UTF-8', Buffer.from('7b2261223a22ff227d', 'hex'), json, { value: { a: '\ufffd' } }],
  ['another type', 'a=1', { 'Content-Type': 'text/plain' }, { value: {}, suggestion: expect.anything() }],
  ['an encoding', gzipSync('{}'), { ...json, 'Content-Encoding': 'gzip' }, { status: 400 }],
  [
    'too many levels',
    `${'['.repeat(65)}${']'.repeat(65)}`,
    json,
    { message: 'The body is nested deeper than 64 levels' },
  ],
  ['levels without an end', '['.repeat(1_000_000), chunked, { message: 'The body is nested deeper than 64 levels' }],
  [
    'no JSON',
    '{"a":',
    json,
    { status: 400, message: expect.stringMatching(/^The body is not valid JSON: Unexpected end/) },
  ],
  ['a number', '5', json, { status: 400, message: 'The body must be a JSON object' }],
  ['U+0000', '{"a":["\\u0000"]}', json, { status: 422, errors: [expect.objectContaining({ field: 'a.0' })] }],
])('a body with %s is read alike on small and on large routes', async (_, body, headers, result) => {
  const small = await post('data', body, headers);
  expect(small).toMatchObject(result);
  expect(small).toEqual(await post('document', body, headers));
});

test.each(['declared', 'chunked'])('a body of 256 kB and a byte is refused, %s', async (how) => {
  const { bytes } = bodyLimits.event;
  const headers = how === 'chunked' ? chunked : json;
  const refusal = {
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
    message: 'The body is larger than 256 kB',
    details: { limitBytes: bytes },
  };
  expect(await post('event', `{}${' '.repeat(bytes - 2)}`, headers)).toEqual({ value: {} });
  expect(await post('event', `{}${' '.repeat(bytes - 1)}`, headers)).toEqual(refusal);
});

test.each(['data', 'document'])('a body of the limit %s that breaks off is refused', async (name) => {
  const begun = once(server, 'request');
  const socket = connect(port, '127.0.0.1');
  socket.write(`POST /${name} HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{`);
  await begun;
  socket.destroy();
  await expect(heard).resolves.toMatchObject({ status: 400, message: expect.stringContaining('ended before') });
});

test('a form has its fields, and of a repeated one the first', async () => {
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const fields = { action: 'unsubscribe', page: 'ü b', 'a.b': '1' };
  expect(await post('recipientForm', 'action=unsubscribe&action=x&page=%C3%BC+b&a.b=1', form)).toEqual(fields);
  expect(await post('recipientForm', 'action=subscribe', {})).toEqual({ action: 'subscribe' });
  expect(await post('recipientForm', '', form)).toEqual({});
  expect(await post('recipientForm', `a=${'x'.repeat(4096)}`, form)).toMatchObject({ status: 413 });
});
