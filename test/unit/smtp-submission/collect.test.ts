import { Readable } from 'node:stream';
import type { SMTPServerDataStream } from 'smtp-server';
import { expect, test } from 'vitest';
import { collect } from '../../../src/mail/smtp/message.ts';
import { memoryOf } from './handler.ts';

const kilobyte = 1024;
const streamOf = (...pieces: Buffer[]) => {
  const stream = new Readable({ read: () => undefined });
  for (const piece of pieces) stream.push(piece);
  return stream as unknown as SMTPServerDataStream & Readable;
};

test('a message is put together from its pieces', async () => {
  const stream = streamOf(Buffer.from('Subject: '), Buffer.alloc(100 * kilobyte, 'x'));
  stream.push(null);
  const raw = await collect(stream, 200 * kilobyte, memoryOf(200 * kilobyte));
  expect(raw.toString()).toBe(`Subject: ${'x'.repeat(100 * kilobyte)}`);
});

test.each([
  ['larger than a message may be', 200 * kilobyte, 1_024 * kilobyte, 552],
  ['that there is no memory for', 1_024 * kilobyte, 200 * kilobyte, 451],
])('a message %s gives its memory back before its last byte has come', async (_, limit, total, code) => {
  const memory = memoryOf(total);
  const stream = streamOf();
  const collected = collect(stream, limit, memory);
  for (let sent = 0; sent < 300 * kilobyte; sent += kilobyte) stream.push(Buffer.alloc(kilobyte));
  await expect.poll(() => memory.isReleased).toBe(true);
  stream.push(Buffer.alloc(kilobyte));
  stream.push(null);
  await expect(collected).rejects.toMatchObject({ responseCode: code });
});
