import { Readable } from 'node:stream';
import type { SMTPServerDataStream } from 'smtp-server';
import { expect, test } from 'vitest';
import { BodyBudget } from '../../src/core/http/body-budget.ts';
import { collect, firstBytes } from '../../src/sending/smtp-in/collect.ts';

const kilobyte = 1024;

test.each([
  ['larger than a message may be', 200 * kilobyte, 1_024 * kilobyte, 552],
  ['that there is no memory for', 1_024 * kilobyte, 200 * kilobyte, 451],
])('a message %s gives its memory back before its last byte has come', async (_, limit, total, code) => {
  const budget = new BodyBudget({ total, share: total, waitMs: 0 });
  const hold = await budget.take('project', firstBytes);
  const stream = new Readable({ read: () => undefined });
  const collected = collect(stream as unknown as SMTPServerDataStream, limit, hold);
  for (let sent = 0; sent < 300 * kilobyte; sent += kilobyte) stream.push(Buffer.alloc(kilobyte));
  await expect.poll(() => budget.held).toBe(0);
  // Another one gets it while the client goes on.
  const other = await budget.take('another', total);
  stream.push(Buffer.alloc(kilobyte));
  stream.push(null);
  await expect(collected).rejects.toMatchObject({ responseCode: code });
  hold.release();
  expect(budget.held).toBe(total);
  other.release();
  expect(budget.held).toBe(0);
});
