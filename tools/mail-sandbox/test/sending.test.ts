import { readFileSync } from 'node:fs';
import { Errors, ServerClient } from 'postmark';
import { expect, test } from 'vitest';
import { createByteBudget } from '../src/routes/requests.ts';
import { message, startSandbox } from './support.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const token = { 'X-Postmark-Server-Token': 'sandbox' };

test('accepts a message and answers in the shape that Postmark has', async () => {
  const { server, get } = await startSandbox();
  const answer = await server.sendEmail(message({ Cc: 'bob@example.com' }));
  expect(answer).toEqual({
    To: 'ada@example.com',
    Cc: 'bob@example.com',
    SubmittedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    MessageID: expect.stringMatching(uuid),
    ErrorCode: 0,
    Message: 'OK',
  });
  expect((await get('/api/stats')).json()).toMatchObject({ accepted: 1, stored: 1, calls: 1 });
});

test('answers a batch in its order, each message for itself', async () => {
  const { server, get } = await startSandbox();
  const template = readFileSync(new URL('../../../test/data/templates/welcome.html', import.meta.url), 'utf8');
  const answers = await server.sendEmailBatch([
    message({ To: 'grace@example.com', HtmlBody: template }),
    message({ To: 'not an address' }),
    message({ To: 'inactive@example.com' }),
    message({ To: '"Lovelace, Ada" <ada@example.com>' }),
  ]);
  expect(answers.map((one) => one.ErrorCode)).toEqual([0, 300, 406, 0]);
  expect(answers[1]).not.toHaveProperty('MessageID');
  const second = await server.getOutboundMessageDetails(answers[3]?.MessageID ?? '');
  expect(second.To).toEqual([{ Email: 'ada@example.com', Name: 'Lovelace, Ada' }]);
  expect((await get('/api/stats')).json()).toMatchObject({ accepted: 2, stored: 2 });
});

test('takes 500 messages in a call and refuses 501', async () => {
  const { server } = await startSandbox();
  const batch = Array.from({ length: 500 }, (_, i) => message({ To: `person.${i}@example.com` }));
  const answers = await server.sendEmailBatch(batch);
  expect(new Set(answers.map((one) => one.MessageID)).size).toBe(500);
  const refused = server.sendEmailBatch([...batch, message()]);
  await expect(refused).rejects.toMatchObject({ statusCode: 422, code: 410 });
});

test.each([
  ['no recipient', { To: '' }, 300],
  ['an address without @', { To: 'ada.example.com' }, 300],
  ['an address with a blank', { To: 'ada lovelace@example.com' }, 300],
  ['an unquoted comma in a name', { To: 'Lovelace, Ada <ada@example.com>' }, 300],
  ['a bad copy', { Cc: 'bob@' }, 300],
  ['a bad reply address', { ReplyTo: 'nobody' }, 300],
  ['no sender', { From: '' }, 300],
  ['two senders', { From: 'a@acme.test, b@acme.test' }, 300],
  ['no body at all', { HtmlBody: '', TextBody: '' }, 300],
  ['a line break in the subject', { Subject: 'Hi\r\nBcc: eve@example.com' }, 300],
  ['a line break in a header', { Headers: [{ Name: 'X-A', Value: 'b\r\nBcc: eve@example.com' }] }, 300],
  ['51 recipients', { To: Array.from({ length: 51 }, (_, i) => `p${i}@example.com`).join(',') }, 300],
  ['metadata with eleven keys', { Metadata: Object.fromEntries([...'abcdefghijk'].map((key) => [key, '1'])) }, 300],
  ['a metadata value of 81 characters', { Metadata: { eid: 'x'.repeat(81) } }, 300],
  ['an attachment that is not base64', { Attachments: [attachment('a.txt', '<b>')] }, 300],
  ['a program as attachment', { Attachments: [attachment('setup.EXE', 'AAAA')] }, 411],
  ['a magic invalid recipient', { To: 'Invalid+1@example.com' }, 300],
  ['an inactive recipient', { To: 'suppressionlist@example.com' }, 406],
] as const)('refuses %s with 422 and the fitting ErrorCode, and stores nothing', async (_, fields, code) => {
  const { server, get } = await startSandbox();
  const refused = server.sendEmail(message(fields as unknown as Parameters<typeof message>[0]));
  await expect(refused).rejects.toMatchObject({ statusCode: 422, code });
  expect((await get('/api/stats')).json()).toMatchObject({ accepted: 0, calls: 1 });
});

test('names inactive recipients so that the official client finds them', async () => {
  const { server } = await startSandbox();
  const refused = await server.sendEmail(message({ To: 'inactive@example.com' })).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(Errors.InactiveRecipientsError);
  expect((refused as Errors.InactiveRecipientsError).recipients).toEqual(['inactive@example.com']);
  const partly = await server.sendEmail(message({ To: 'ada@example.com', Bcc: 'inactive@example.com' }));
  expect(partly).toMatchObject({ ErrorCode: 0, Message: expect.stringContaining('inactive@example.com') });
});

test('asks for a token, and checks without storing for the test token', async () => {
  const { post, get, url } = await startSandbox();
  const without = await post('/email', message());
  expect(without.status).toBe(401);
  expect(without.json()).toEqual({ ErrorCode: 10, Message: expect.any(String) });

  const tester = new ServerClient('POSTMARK_API_TEST', { requestHost: new URL(url).host, useHttps: false });
  expect(await tester.sendEmail(message())).toMatchObject({
    ErrorCode: 0,
    Message: 'Test job accepted',
    MessageID: expect.stringMatching(uuid),
  });
  await expect(tester.sendEmail(message({ To: 'nobody' }))).rejects.toMatchObject({ code: 300 });
  expect((await get('/api/stats')).json()).toMatchObject({ accepted: 0, stored: 0 });
});

test('tells broken JSON, wrong types and wrong content types apart', async () => {
  const { post } = await startSandbox();
  expect((await post('/email', '{"From":', token)).json()).toMatchObject({ ErrorCode: 402 });
  expect((await post('/email', [message()], token)).json()).toMatchObject({ ErrorCode: 403 });
  expect((await post('/email/batch', message(), token)).json()).toMatchObject({ ErrorCode: 403 });
  const wrongType = await post('/email', { ...message(), Metadata: { eid: 7 } }, token);
  expect(wrongType.json()).toMatchObject({ ErrorCode: 403, Message: expect.stringContaining('Metadata.eid') });
  const form = await post('/email', 'From=a', { ...token, 'content-type': 'application/x-www-form-urlencoded' });
  expect([form.status, form.json().ErrorCode]).toEqual([422, 409]);
});

test('refuses more than 50 MB in a call and more than 40 MB in a message, but takes more than Postmark does', async () => {
  const { post, get } = await startSandbox();
  const call = await post('/email/batch', `["${'x'.repeat(50 * 1024 * 1024)}"]`, token);
  expect(call.status).toBe(413);
  const send = (size: number) =>
    post('/email', { ...message(), Attachments: [attachment('photo.png', 'A'.repeat(size))] }, token);
  expect((await send(41 * 1024 * 1024)).status).toBe(413);
  expect((await get('/api/stats')).json()).toMatchObject({ accepted: 0 });
  expect((await send(12 * 1024 * 1024)).status).toBe(200);
});

test('lets large bodies into memory one after the other', async () => {
  const budget = createByteBudget(10);
  const order: string[] = [];
  const first = await budget.take(8);
  const second = budget.take(5).then((release) => {
    order.push('second');
    return release;
  });
  const huge = budget.take(50).then((release) => {
    order.push('huge');
    return release;
  });
  await new Promise(setImmediate);
  expect(order).toEqual([]);
  first();
  const release = await second;
  await new Promise(setImmediate);
  expect(order).toEqual(['second']);
  release();
  await huge;
  expect(order).toEqual(['second', 'huge']);
});

function attachment(Name: string, Content: string) {
  return { Name, Content, ContentType: 'application/octet-stream', ContentID: null };
}
