import { expect, test } from 'vitest';
import { message, type Received, startReceiver, startSandbox } from './support.ts';

async function posted(received: readonly Received[], count: number): Promise<Record<string, unknown>[]> {
  await expect.poll(() => received.length).toBeGreaterThanOrEqual(count);
  // Whatever comes too much would come now.
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(received).toHaveLength(count);
  return received.map((one) => one.body);
}

const kindOf = (body: Record<string, unknown>) => [body.RecordType, body.Type].filter(Boolean).join(' ');

test.each([
  ['ada', ['Delivery']],
  ['delivered', ['Delivery']],
  ['HardBounce+7', ['Bounce HardBounce']],
  ['bounce', ['Bounce HardBounce']],
  ['softbounce', ['Bounce SoftBounce']],
  ['complaint', ['Delivery', 'SpamComplaint SpamComplaint']],
  ['spamcomplaint+x', ['Delivery', 'SpamComplaint SpamComplaint']],
  ['open', ['Delivery', 'Open']],
  ['click', ['Delivery', 'Open', 'Click']],
  ['unsubscribe', ['Delivery', 'SubscriptionChange']],
  ['ooto', ['Delivery', 'Bounce AutoResponder']],
  ['opener', ['Delivery']],
])('a message to %s@… leads to %j, in this order', async (local, expected) => {
  const { url, received } = await startReceiver();
  const { server } = await startSandbox({ webhookUrl: url });
  const { MessageID } = await server.sendEmail(message({ To: `${local}@example.com`, Metadata: { eid: 'e1' } }));
  const bodies = await posted(received, expected.length);
  expect(bodies.map(kindOf)).toEqual(expected);
  for (const body of bodies)
    expect(body).toMatchObject({ MessageID, Metadata: { eid: 'e1' }, MessageStream: 'outbound' });
});

test('posts what Postmark posts, with credentials', async () => {
  const { url, received } = await startReceiver();
  const { server } = await startSandbox({ webhookUrl: url });
  const { MessageID } = await server.sendEmail(
    message({
      To: 'click@example.com',
      Tag: 'CAMPAIGN',
      MessageStream: 'broadcast',
      Metadata: { eid: 'e1', pid: 'p1' },
    }),
  );
  const [delivery, open, click] = await posted(received, 3);
  const common = {
    MessageID,
    MessageStream: 'broadcast',
    ServerID: 1,
    Tag: 'CAMPAIGN',
    Metadata: { eid: 'e1', pid: 'p1' },
    Recipient: 'click@example.com',
  };
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  expect(delivery).toEqual({ RecordType: 'Delivery', ...common, DeliveredAt: time, Details: expect.any(String) });
  const reader = {
    UserAgent: expect.any(String),
    Platform: 'Desktop',
    OS: expect.objectContaining({ Family: 'Linux' }),
    Client: expect.objectContaining({ Name: expect.any(String) }),
    Geo: expect.objectContaining({ IP: '127.0.0.1' }),
  };
  expect(open).toEqual({ RecordType: 'Open', ...common, ...reader, ReceivedAt: time, FirstOpen: true, ReadSeconds: 5 });
  const OriginalLink = 'https://acme.test/start?a=1&b=2';
  expect(click).toEqual({
    RecordType: 'Click',
    ...common,
    ...reader,
    ReceivedAt: time,
    OriginalLink,
    ClickLocation: 'HTML',
  });
  const credentials = Buffer.from('fernpost:a secret: with a colon').toString('base64');
  for (const { headers } of received) {
    expect(headers).toMatchObject({ authorization: `Basic ${credentials}`, 'content-type': 'application/json' });
  }
});

test('numbers bounces beyond what a JavaScript number holds, each differently', async () => {
  const { url, received } = await startReceiver();
  const { server } = await startSandbox({ webhookUrl: url });
  const { MessageID } = await server.sendEmail(message({ To: 'hardbounce@example.com' }));
  await server.sendEmail(message({ To: 'complaint@example.com' }));
  await posted(received, 3);
  const bounce = received.find((one) => one.body.Type === 'HardBounce');
  expect(bounce?.body).toMatchObject({
    RecordType: 'Bounce',
    TypeCode: 1,
    Name: 'Hard bounce',
    MessageID,
    ServerID: 1,
    Email: 'hardbounce@example.com',
    From: '"Acme, Inc." <hello@acme.test>',
    Subject: 'Welcome aboard',
    Inactive: true,
    CanActivate: true,
    DumpAvailable: false,
  });
  const ids = received.flatMap((one) => /"ID":(\d+)/.exec(one.text)?.[1] ?? []);
  expect(ids).toHaveLength(2);
  expect(new Set(ids).size).toBe(2);
  for (const id of ids) expect(BigInt(id)).toBeGreaterThan(2n ** 53n);
  const details = await fetch(
    `${server.getClientOptions().requestHost?.replace(/^/, 'http://')}/messages/outbound/${MessageID}/details`,
    {
      headers: { 'X-Postmark-Server-Token': 'sandbox' },
    },
  );
  expect(await details.text()).toContain(`"BounceID":${ids.find((id) => bounce?.text.includes(id))}`);
});

test('delivers after one delay, opens after two and clicks after three', async () => {
  const { url, received } = await startReceiver();
  const { server } = await startSandbox({ webhookUrl: url, delayMs: 150 });
  const began = Date.now();
  await server.sendEmail(message({ To: 'click@example.com' }));
  await posted(received, 3);
  const waits = received.map((one) => one.at - began);
  // Timers may come late but never early.
  for (const [i, wait] of waits.entries()) expect(wait).toBeGreaterThanOrEqual(150 * (i + 1) - 5);
});

test('tries a webhook again after the given waits, and gives up after the last one', async () => {
  const { url, received } = await startReceiver((n) => (n < 3 ? 500 : 200));
  const { server, get } = await startSandbox({ webhookUrl: url, webhookRetryMs: [40, 80, 120] });
  const { MessageID } = await server.sendEmail(message());
  const [first, second, third] = await posted(received, 3);
  expect(second).toEqual(first);
  expect(third).toEqual(first);
  const gaps = received.slice(1).map((one, i) => one.at - (received[i]?.at ?? 0));
  expect(gaps[0]).toBeGreaterThanOrEqual(35);
  expect(gaps[1]).toBeGreaterThanOrEqual(75);
  const [event] = (await get(`/api/messages/${MessageID}`)).json().events;
  expect(event).toMatchObject({ type: 'delivery', webhook: { state: 'delivered', attempts: 3, answer: 'HTTP 200' } });

  const never = await startReceiver(() => 500);
  const hopeless = await startSandbox({ webhookUrl: never.url, webhookRetryMs: [10, 10, 10] });
  await hopeless.server.sendEmail(message());
  await posted(never.received, 4);
  expect((await hopeless.get('/api/stats')).json().webhooks).toEqual({
    delivered: 0,
    failed: 1,
    waiting: 0,
    dropped: 0,
  });
});

test('stops at once when the receiver answers 403, as Postmark does', async () => {
  const { url, received } = await startReceiver(() => 403);
  const { server } = await startSandbox({ webhookUrl: url, webhookRetryMs: [10, 10, 10] });
  await server.sendEmail(message());
  await posted(received, 1);
});

test('waits a second before the second attempt, also for a receiver that is not there yet', async () => {
  const { url } = await startReceiver();
  const nobody = url.replace(/:\d+/, ':1');
  const { server, get } = await startSandbox({ webhookUrl: nobody });
  const began = Date.now();
  const { MessageID } = await server.sendEmail(message());
  const webhook = async () => (await get(`/api/messages/${MessageID}`)).json().events[0]?.webhook;
  await expect.poll(async () => (await webhook())?.answer).toBe('ECONNREFUSED');
  await expect.poll(async () => (await webhook()).attempts).toBeGreaterThan(1);
  expect(Date.now() - began).toBeGreaterThanOrEqual(995);
});

test.each([
  ['ratelimit', 429, 429],
  ['error503', 503, 100],
  ['error500', 500, 0],
])('a call that names %s@… fails twice as a whole, then goes through', async (local, status, code) => {
  const { server, get } = await startSandbox();
  const batch = [message(), message({ To: `${local}+a@example.com` })];
  for (let i = 0; i < 2; i += 1) {
    await expect(server.sendEmailBatch(batch)).rejects.toMatchObject({ statusCode: status, code });
  }
  expect((await get('/api/stats')).json()).toMatchObject({ accepted: 0 });
  expect((await server.sendEmailBatch(batch)).map((one) => one.ErrorCode)).toEqual([0, 0]);
  await expect(server.sendEmail(message({ To: `${local}+b@example.com` }))).rejects.toMatchObject({
    statusCode: status,
  });
});

test('holds the connection for timeout@… but stores the message at once', async () => {
  const { post, get, close } = await startSandbox();
  let answered = false;
  const held = post('/email', message({ To: 'timeout@example.com' }), { 'X-Postmark-Server-Token': 'sandbox' })
    .then(() => {
      answered = true;
    })
    .catch(() => undefined);
  await expect.poll(async () => (await get('/api/stats')).json().accepted).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(answered).toBe(false);
  // Far shorter than the 90 seconds, or this test would time out.
  await close();
  await held;
});

test.each([
  ['open', 'Open'],
  ['click', 'Click'],
  ['hardBounce', 'Bounce HardBounce'],
  ['softBounce', 'Bounce SoftBounce'],
  ['complaint', 'SpamComplaint SpamComplaint'],
  ['unsubscribe', 'SubscriptionChange'],
])('the event %s on demand posts %s and tells how the receiver answered', async (type, kind) => {
  const { url, received } = await startReceiver((_, body) => (body.RecordType === 'Delivery' ? 200 : 202));
  const { server, post, get } = await startSandbox({ webhookUrl: url });
  const { MessageID } = await server.sendEmail(message());
  await posted(received, 1);
  const answer = await post(`/api/messages/${MessageID}/events`, { type });
  expect(answer.json()).toMatchObject({
    event: { type, recipient: 'ada@example.com' },
    webhook: { delivered: true, answer: 'HTTP 202' },
  });
  expect((await posted(received, 2)).map(kindOf)).toEqual(['Delivery', kind]);
  const stored = (await get(`/api/messages/${MessageID}`)).json();
  expect(stored.events.map((event: { type: string }) => event.type)).toEqual(['delivery', type]);
});

test('says which open is the first, and gives every event of a message a time of its own', async () => {
  const { url, received } = await startReceiver();
  const { server, post } = await startSandbox({ webhookUrl: url });
  const { MessageID } = await server.sendEmail(message());
  await posted(received, 1);
  for (let i = 0; i < 3; i += 1) await post(`/api/messages/${MessageID}/events`, { type: 'open' });
  const opens = (await posted(received, 4)).slice(1);
  expect(opens.map((body) => body.FirstOpen)).toEqual([true, false, false]);
  expect(new Set(opens.map((body) => body.ReceivedAt)).size).toBe(3);
});

test('refuses unknown messages, unknown events and a click without a link', async () => {
  const { server, post } = await startSandbox();
  const { MessageID } = await server.sendEmail(message({ HtmlBody: '', TextBody: 'nothing to click' }));
  expect((await post('/api/messages/nope/events', { type: 'open' })).status).toBe(404);
  expect((await post(`/api/messages/${MessageID}/events`, { type: 'explode' })).status).toBe(422);
  expect((await post(`/api/messages/${MessageID}/events`, { type: 'click' })).status).toBe(422);
  const named = await post(`/api/messages/${MessageID}/events`, { type: 'click', link: 'https://acme.test/x' });
  expect(named.json()).toMatchObject({ event: { type: 'click', link: 'https://acme.test/x' }, webhook: null });
});

test('posts a received mail in the inbound shape', async () => {
  const { url, received } = await startReceiver();
  const { post } = await startSandbox({ webhookUrl: url });
  const answer = await post('/api/inbound', {
    from: '"Lovelace, Ada" <ada@example.com>',
    to: 'Support <support+ticket7@acme.test>, other@acme.test',
    subject: 'Help',
    text: 'Please help',
    html: '<p>Please help</p>',
    spam: true,
  });
  const [body] = await posted(received, 1);
  expect(answer.json()).toEqual({ messageId: body?.MessageID, webhook: { delivered: true, answer: 'HTTP 200' } });
  expect(body).toMatchObject({
    From: 'ada@example.com',
    FromName: 'Lovelace, Ada',
    FromFull: { Email: 'ada@example.com', Name: 'Lovelace, Ada', MailboxHash: '' },
    ToFull: [
      { Email: 'support+ticket7@acme.test', Name: 'Support', MailboxHash: 'ticket7' },
      { Email: 'other@acme.test', Name: '', MailboxHash: '' },
    ],
    OriginalRecipient: 'support+ticket7@acme.test',
    MailboxHash: 'ticket7',
    MessageStream: 'inbound',
    Subject: 'Help',
    TextBody: 'Please help',
    HtmlBody: '<p>Please help</p>',
    Headers: expect.arrayContaining([{ Name: 'X-Spam-Status', Value: 'Yes' }]),
  });
  expect(body).not.toHaveProperty('RecordType');
  expect((await post('/api/inbound', { from: 'nobody', to: 'support@acme.test' })).json()).toEqual({
    error: expect.stringContaining('from'),
  });
});
