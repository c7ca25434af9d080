import { once } from 'node:events';
import { createServer, type IncomingMessage, request as send } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { BodyBudget } from '../../../src/http/bodies/budget.ts';
import type { BodyError, BodyFault } from '../../../src/http/bodies/json.ts';
import { BodyReader } from '../../../src/http/bodies/reader.ts';

const budget = new BodyBudget({ total: 3_000_000, share: 2_000_000, waitMs: 1 });
const limit = { bytes: 1_000_000, levels: 3, values: 5 };

type Told = { value?: unknown; suggestion?: string; text?: string } | { fault: BodyFault; message: string };
let read: (body: BodyReader, request: IncomingMessage) => Promise<Told>;
let heard: Promise<Told>;
const server = createServer(async (request, response) => {
  const body = new BodyReader();
  heard = read(body, request).catch((error: BodyError) => ({ fault: error.fault, message: error.message }));
  response.end(JSON.stringify(await heard));
  body.release();
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
afterAll(() => server.close());
beforeEach(() => {
  read = (body, request) => body.json(request, limit, { budget, owner: 'ada' });
});

async function post(body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}): Promise<Told> {
  const response = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body, headers });
  return (await response.json()) as Told;
}

const json = { 'Content-Type': 'application/json; charset=utf-8' };

test.each([
  ['an object', '{"a":[1]}', { a: [1] }],
  ['an array', '[1]', [1]],
  ['nothing', '', {}],
  ['a byte order mark first', '\ufeff{"a":1}', { a: 1 }],
  ['half of a surrogate pair', '{"a":"\\ud800"}', { a: '\ufffd' }],
])('%s is read', async (_, text, value) => {
  expect(await post(text, json)).toEqual({ value });
  expect(budget.held).toBe(0);
});

test.each([
  ['too many levels', '[[[[]]]]', 'malformed', 'The body is nested deeper than 3 levels'],
  ['too many values', '[1,2,3,4,5]', 'malformed', 'The body has more than 5 values'],
  ['no JSON', '{', 'malformed', 'The body is not valid JSON'],
  ['neither object nor array', '5', 'malformed', 'The body must be a JSON object'],
  ['U+0000', '{"a":["\\u0000"]}', 'nul', 'U+0000'],
])('%s is refused', async (_, text, kind, message) => {
  expect(await post(text, json)).toMatchObject({ fault: { kind }, message: expect.stringContaining(message) });
  expect(budget.held).toBe(0);
});

test('another content type is not read, and an encoding is refused', async () => {
  expect(await post('a=1', { 'Content-Type': 'application/x-www-form-urlencoded' })).toEqual({
    value: {},
    suggestion: expect.stringContaining('not "application/x-www-form-urlencoded"'),
  });
  expect(await post('{}', { ...json, 'Content-Encoding': 'gzip' })).toMatchObject({ fault: { kind: 'malformed' } });
});

test('a text is handed over as it came, whatever its type', async () => {
  read = async (body, request) => ({ text: await body.text(request, limit, { budget, owner: 'ada' }) });
  expect(await post('{"a": 1}', { 'Content-Type': 'text/plain' })).toEqual({ text: '{"a": 1}' });
});

test('a body is too large by what it declares, and by what comes', async () => {
  const large = Buffer.alloc(1_000_001, 0x20);
  const refusal = { fault: { kind: 'tooLarge', limitBytes: 1_000_000 } };
  expect(await post(large, json)).toMatchObject(refusal);
  const chunked = send({ port, host: '127.0.0.1', method: 'POST', headers: json });
  chunked.write(large);
  chunked.end();
  const [response] = (await once(chunked, 'response')) as [IncomingMessage];
  expect(JSON.parse(Buffer.concat(await response.toArray()).toString())).toMatchObject(refusal);
  expect(budget.held).toBe(0);
});

test('a body that grows beyond the share of its owner is refused', async () => {
  const other = await budget.take('ada', 1_900_000);
  const chunked = send({ port, host: '127.0.0.1', method: 'POST', headers: json });
  chunked.write(Buffer.alloc(500_000, 0x20));
  const [response] = (await once(chunked, 'response')) as [IncomingMessage];
  expect(JSON.parse(Buffer.concat(await response.toArray()).toString())).toMatchObject({ fault: { kind: 'busy' } });
  chunked.end();
  other.release();
  expect(budget.held).toBe(0);
});

test('a body that breaks off is refused, and gives its memory back', async () => {
  const begun = once(server, 'request');
  const socket = connect(port, '127.0.0.1');
  socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{');
  await begun;
  socket.destroy();
  await expect(heard).resolves.toMatchObject({
    fault: { kind: 'malformed' },
    message: expect.stringContaining('ended before'),
  });
  await expect.poll(() => budget.held).toBe(0);
});
