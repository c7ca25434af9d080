import { expect, test } from 'vitest';
import { SandboxInbox } from '../src/testing.ts';
import { clientOf } from './service.ts';

const mail = { to: 'ada@example.com', subject: 'Hi', body: 'Hi' };
const sent = { body: { data: { emails: [{ email: 'e-1' }] } } };
const busy = { status: 503, headers: { 'Retry-After': '0' } };
const away = new TypeError('fetch failed');

test('sends Idempotency-Mode: replay with the key that it makes, the same for every attempt', async () => {
  const { fernpost, asked } = clientOf([away, busy, sent]);
  expect(await fernpost.send(mail)).toEqual([{ email: 'e-1' }]);
  const keys = asked.map(({ headers }) => headers.get('idempotency-key'));
  expect([keys.length, new Set(keys).size, keys[0]]).toEqual([3, 1, expect.stringMatching(/^[0-9a-f-]{36}$/)]);
  expect(asked.map(({ headers }) => headers.get('idempotency-mode'))).toEqual(['replay', 'replay', 'replay']);
  await fernpost.send(mail);
  expect(asked[3]?.headers.get('idempotency-key')).not.toBe(keys[0]);
});

test('repeats reads, and neither refusals nor other writes', async () => {
  const read = clientOf([away, { status: 429 }, { body: { id: '1' } }]);
  expect(await read.fernpost.contacts.get('1')).toEqual({ id: '1' });
  expect(read.asked.map(({ headers }) => headers.get('idempotency-mode'))).toEqual([null, null, null]);
  const refused = clientOf([{ status: 422 }]);
  await expect(refused.fernpost.send(mail)).rejects.toMatchObject({ status: 422 });
  const write = clientOf([busy]);
  await expect(write.fernpost.contacts.upsert({ email: 'ada@example.com' })).rejects.toMatchObject({ status: 503 });
  expect([refused.asked.length, write.asked.length]).toEqual([1, 1]);
});

test('repeats a read whose response broke off', async () => {
  const broken = { body: '{"id": ', headers: { 'Content-Type': 'application/json' } };
  const { fernpost } = clientOf([broken, { body: { id: '1' } }]);
  expect(await fernpost.contacts.get('1')).toEqual({ id: '1' });
});

test('an abort ends the wait before the next attempt', async () => {
  const { fernpost, asked } = clientOf([{ status: 503, headers: { 'Retry-After': '30' } }]);
  const abort = new AbortController();
  const sending = fernpost.send(mail, { signal: abort.signal });
  await expect.poll(() => asked.length).toBe(1);
  abort.abort(new Error('enough'));
  await expect(sending).rejects.toThrow('enough');
  expect(asked).toHaveLength(1);
});

test('an abort ends what waits for work of the service', async () => {
  const abort = () => {
    const controller = new AbortController();
    return { signal: controller.signal, everyMs: 60_000, now: () => controller.abort(new Error('enough')) };
  };
  const waits = {
    erasure: clientOf([{ body: { status: 'RUNNING' } }]),
    job: clientOf([{ body: { state: 'active' } }]),
    review: clientOf([{ body: { data: { n: 3, state: 'RUNNING' } } }]),
  };
  const options = { erasure: abort(), job: abort(), review: abort() };
  const waiting = [
    waits.erasure.fernpost.erasures.wait('1', options.erasure),
    waits.job.fernpost.jobs.wait('1', options.job),
    waits.review.fernpost.campaigns.review('1', {}, options.review),
  ];
  await expect.poll(() => waits.review.asked.length).toBe(2);
  for (const one of Object.values(options)) one.now();
  for (const one of waiting) await expect(one).rejects.toThrow('enough');
  const inbox = new SandboxInbox('http://127.0.0.1:9');
  await expect(inbox.waitFor({}, 60, { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
});

test('waits until the work has ended', async () => {
  const { fernpost, asked } = clientOf([{ body: { state: 'active' } }, { body: { state: 'completed', id: 'j' } }]);
  expect(await fernpost.jobs.wait('j', { everyMs: 1 })).toMatchObject({ state: 'completed' });
  expect(asked.map(({ url }) => url.pathname)).toEqual(['/contacts/bulk/j', '/contacts/bulk/j']);
});
