import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Readable } from 'node:stream';
import { afterAll, expect, test } from 'vitest';
import { type MultipartRules, readMultipart } from '../../../src/http/server/multipart.ts';

const rules: MultipartRules = {
  fileBytes: 100_000,
  bodyBytes: 400_000,
  parts: 3,
  notMultipart: () => new Error('not multipart'),
  broken: () => new Error('broken'),
  tooLarge: () => new Error('too large'),
};

let heard: Promise<unknown> = Promise.resolve();
const server = createServer(async (request, response) => {
  heard = read(request).catch((error: Error) => error.message);
  response.end(JSON.stringify(await heard));
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
afterAll(() => server.close());

async function read(request: IncomingMessage): Promise<string[]> {
  const found: string[] = [];
  await readMultipart(
    request,
    rules,
    ({ field, filename, mimeType, bytes }) => {
      if (field === 'unwanted') return null;
      if (field === 'refused') throw new Error('refused');
      return lengthOf(bytes).then((length) => void found.push(`${field}, ${filename}, ${mimeType}: ${length} bytes`));
    },
    (name, value) => void found.push(`${name} = ${value}`),
  );
  return found;
}

async function lengthOf(stream: Readable): Promise<number> {
  let length = 0;
  for await (const piece of stream) length += (piece as Buffer).length;
  return length;
}

const filePart = (name: string, content: string) =>
  `--x\r\nContent-Disposition: form-data; name="${name}"; filename="a/Grüße.csv"\r\nContent-Type: text/csv\r\n\r\n${content}\r\n`;
const fieldPart = (name: string, content: string) =>
  `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${content}\r\n`;
const end = '--x--\r\n';

async function post(body: string, type = 'multipart/form-data; boundary=x'): Promise<unknown> {
  const answer = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body, headers: { 'Content-Type': type } });
  return answer.json();
}

test('files are streams, other parts are texts, and what is unwanted is skipped', async () => {
  const body =
    fieldPart('note', 'ü') + filePart('unwanted', 'x'.repeat(90_000)) + filePart('file', 'x'.repeat(100_000));
  expect(await post(body + end)).toEqual(['note = ü', 'file, Grüße.csv, text/csv: 100000 bytes']);
  expect(await post(fieldPart('note', '') + end + 'an epilogue'.repeat(10_000))).toEqual(['note = ']);
});

test.each([
  ['a file of a byte more', filePart('file', 'x'.repeat(100_001)) + end, 'too large'],
  ['a field of a byte more', fieldPart('note', 'x'.repeat(65_537)) + end, 'too large'],
  ['a file that is refused, read to its end', filePart('refused', 'x'.repeat(90_000)) + end, 'refused'],
  ['a file without an end', filePart('file', 'x'.repeat(1_000)), 'broken'],
  ['an unwanted file without an end', filePart('unwanted', 'x'.repeat(1_000)), 'broken'],
  ['a refused file without an end', filePart('refused', 'x'.repeat(1_000)), 'refused'],
  ['a header without an end', '--x\r\nContent-Disposition: form-data; name="file"', 'broken'],
  ['no part', 'nothing', 'broken'],
])('%s is refused', async (_, body, words) => {
  expect(await post(body)).toBe(words);
});

test('another type, and one without a boundary, are refused', async () => {
  expect(await post('a=1', 'application/x-www-form-urlencoded')).toBe('not multipart');
  expect(await post(end, 'multipart/form-data; charset=utf-8')).toBe('broken');
});

test.each(['file', 'unwanted', 'refused'])(
  'a connection that ends inside the part "%s" ends its reader',
  async (name) => {
    const begun = once(server, 'request');
    const socket = connect(port, '127.0.0.1');
    const head =
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 99999\r\n\r\n';
    socket.write(head + filePart(name, 'x'.repeat(1_000)));
    await begun;
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.destroy();
    expect(await heard).toBe(name === 'refused' ? 'refused' : 'broken');
  },
);
