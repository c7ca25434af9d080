import { expect, test } from 'vitest';
import { message, startSandbox } from './support.ts';

const token = { 'X-Postmark-Server-Token': 'sandbox' };

test('fails the given number of calls with a status, stores nothing meanwhile, then works again', async () => {
  const { server, post, get } = await startSandbox();
  await post('/api/faults', { kind: 'status', status: 503, times: 2, errorCode: 100, retryAfter: 7 });
  const first = await post('/email', message(), token);
  expect([first.status, first.headers.get('retry-after'), first.json().ErrorCode]).toEqual([503, '7', 100]);
  await expect(server.sendEmailBatch([message()])).rejects.toMatchObject({ statusCode: 503, code: 100 });
  expect((await get('/api/stats')).json()).toMatchObject({ accepted: 0, calls: 2 });
  expect(await server.sendEmail(message())).toMatchObject({ ErrorCode: 0 });
  expect((await get('/api/faults')).json()).toEqual({ faults: [] });
});

test('drops the answer after it has stored the messages', async () => {
  const { post, get } = await startSandbox();
  await post('/api/faults', { kind: 'drop-answer', path: '/email/batch' });
  const batch = [message({ Metadata: { claim: 'c1' } }), message({ Metadata: { claim: 'c1' } })];
  await expect(post('/email/batch', batch, token)).rejects.toThrow('fetch failed');
  const found = await get('/messages/outbound?count=50&offset=0&metadata_claim=c1', token);
  expect(found.json().TotalCount).toBe(2);
  expect((await post('/email/batch', batch, token)).status).toBe(200);
});

test('hangs without storing, and answers late after storing', async () => {
  const { post, get } = await startSandbox();
  await post('/api/faults', { kind: 'hang', ms: 100 });
  await post('/api/faults', { kind: 'delay', ms: 100 });
  const hung = Date.now();
  await expect(post('/email', message(), token)).rejects.toThrow('fetch failed');
  expect(Date.now() - hung).toBeGreaterThanOrEqual(95);
  expect((await get('/api/stats')).json()).toMatchObject({ accepted: 0 });

  const late = Date.now();
  const answer = post('/email', message(), token);
  await expect.poll(async () => (await get('/api/stats')).json().accepted).toBe(1);
  expect((await answer).status).toBe(200);
  expect(Date.now() - late).toBeGreaterThanOrEqual(95);
});

test('answers each message with an ErrorCode of choice', async () => {
  const { server, post, get } = await startSandbox();
  await post('/api/faults', { kind: 'reject', errorCode: 412, times: 2 });
  const answers = await server.sendEmailBatch([message(), message()]);
  expect(answers.map((one) => one.ErrorCode)).toEqual([412, 412]);
  await expect(server.sendEmail(message())).rejects.toMatchObject({ statusCode: 422, code: 412 });
  expect((await get('/api/stats')).json()).toMatchObject({ accepted: 0 });
});

test('hits only the path it names, the search included, and can be taken back', async () => {
  const { post, get, remove } = await startSandbox();
  await post('/api/faults', { kind: 'status', status: 500, path: '/messages/outbound' });
  await post('/api/faults', { kind: 'status', status: 429, path: '/email/batch', times: 5 });
  expect((await post('/email', message(), token)).status).toBe(200);
  expect((await get('/messages/outbound?count=1&offset=0', token)).status).toBe(500);
  expect((await get('/messages/outbound?count=1&offset=0', token)).status).toBe(200);
  expect((await post('/email/batch', [message()], token)).status).toBe(429);
  await remove('/api/faults');
  expect((await post('/email/batch', [message()], token)).status).toBe(200);
});

test.each([
  [{ kind: 'explode' }],
  [{ kind: 'status' }],
  [{ kind: 'status', status: 200 }],
  [{ kind: 'delay', ms: -1 }],
  [{ kind: 'drop-answer', times: 0 }],
  [{ kind: 'drop-answer', path: 'email' }],
])('refuses the fault %j', async (fault) => {
  const { post, get } = await startSandbox();
  const answer = await post('/api/faults', fault);
  expect([answer.status, typeof answer.json().error]).toEqual([422, 'string']);
  expect((await get('/api/faults')).json()).toEqual({ faults: [] });
});
