import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import type { ListedPage, OutgoingMessage, Verdict } from '../../../src/domains/providers/mailer.ts';
import {
  createPostmarkDomains,
  createPostmarkMailer,
  type PostmarkOptions,
} from '../../../src/domains/providers/postmark/postmark.ts';
import { mostBytes } from '../../../src/domains/providers/postmark/postmark-message.ts';
import { postmarkFields } from './postmark-fields.ts';

interface Call {
  method: string;
  url: URL;
  headers: IncomingMessage['headers'];
  messages: Record<string, unknown>[];
  connection: number | undefined;
}
type Answer = (call: Call, response: ServerResponse) => void;

const closers: (() => void)[] = [];
afterEach(() => {
  vi.useRealTimers();
  for (const close of closers.splice(0)) close();
});

async function provider(
  answer: Answer,
  begin: (request: IncomingMessage, response: ServerResponse) => void = () => undefined,
) {
  const calls: Call[] = [];
  const server = createServer((request, response) => {
    begin(request, response);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const call = {
        method: request.method ?? '',
        url: new URL(request.url ?? '/', 'http://provider.test'),
        headers: request.headers,
        messages: text === '' ? [] : JSON.parse(text),
        connection: request.socket.remotePort,
      };
      calls.push(call);
      answer(call, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return { calls, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const json = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) =>
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));

const takeAll: Answer = (call, response) =>
  json(
    response,
    200,
    call.messages.map((message) => taken(message)),
  );

function taken(message: Record<string, unknown>) {
  const { eid } = message.Metadata as { eid: string };
  return {
    ErrorCode: 0,
    Message: 'OK',
    MessageID: `m-${eid}`,
    SubmittedAt: '2026-03-01T05:00:00.1234567-05:00',
    To: message.To,
  };
}

function mailerAt(url: string, options: Partial<PostmarkOptions> = {}) {
  return createPostmarkMailer({
    serverToken: 'token',
    apiUrl: url,
    streams: { transactional: 'outbound', broadcast: 'broadcast' },
    log: { warn: () => undefined },
    ...options,
  });
}

function message(n: number, changes: Partial<OutgoingMessage> = {}): OutgoingMessage {
  return {
    emailId: `email-${n}`,
    projectId: 'project-1',
    from: { address: 'hello@fernpost.test', name: 'Fernpost' },
    to: { address: `reader-${n}@example.com`, name: null },
    replyTo: null,
    subject: `Welcome ${n}`,
    html: '<p>Welcome</p>',
    text: 'Welcome',
    headers: [],
    attachments: [],
    tag: 'TRANSACTIONAL',
    stream: 'transactional',
    tracking: true,
    ...changes,
  };
}
const messages = (count: number) => Array.from({ length: count }, (_, n) => message(n));
const kinds = (verdicts: Verdict[]) => [...new Set(verdicts.map((verdict) => verdict.kind))];

test('a message becomes the fields Postmark documents, with our ids as metadata', async () => {
  const { url, calls } = await provider(takeAll);
  const verdicts = await mailerAt(url).send('run/7/1', [
    message(1, {
      from: { address: 'hello@fernpost.test', name: 'Ann "Annie" O\\Neil\r\nBcc: x@example.com' },
      to: { address: 'jo@example.com', name: 'Jo Müller' },
      replyTo: 'reply@fernpost.test',
      headers: [
        { name: 'X-Order', value: '7' },
        { name: 'Content-Type', value: 'text/evil' },
        { name: 'Message-ID', value: '<own@fernpost.test>' },
      ],
      attachments: [
        { filename: 'a.png', content: 'AAAA', contentType: 'image/png', contentId: 'logo' },
        { filename: 'b.pdf', content: 'BBBB', contentType: 'application/pdf', contentId: null },
      ],
      tag: 'CAMPAIGN',
      stream: 'broadcast',
    }),
  ]);
  expect(verdicts).toEqual([{ kind: 'accepted', messageId: 'm-email-1', at: '2026-03-01T10:00:00.123Z' }]);
  expect(calls).toHaveLength(1);
  expect(calls[0]?.url.pathname).toBe('/email/batch');
  expect(calls[0]?.headers['x-postmark-server-token']).toBe('token');
  expect(calls[0]?.messages).toEqual([
    {
      From: '"Ann \\"Annie\\" O\\\\Neil Bcc: x@example.com" <hello@fernpost.test>',
      To: '"Jo Müller" <jo@example.com>',
      ReplyTo: 'reply@fernpost.test',
      Subject: 'Welcome 1',
      HtmlBody: '<p>Welcome</p>',
      TextBody: 'Welcome',
      Headers: [{ Name: 'X-Order', Value: '7' }],
      Attachments: [
        { Name: 'a.png', Content: 'AAAA', ContentType: 'image/png', ContentID: 'cid:logo' },
        { Name: 'b.pdf', Content: 'BBBB', ContentType: 'application/pdf', ContentID: null },
      ],
      Tag: 'CAMPAIGN',
      TrackOpens: true,
      TrackLinks: 'HtmlOnly',
      MessageStream: 'broadcast',
      Metadata: { eid: 'email-1', pid: 'project-1', claim: 'run/7/1' },
    },
  ]);
});

test('fields that are not set are left out, and tracking off means off for links too', async () => {
  const { url, calls } = await provider(takeAll);
  await mailerAt(url).send('c', [
    message(1, { from: { address: 'a@fernpost.test', name: null }, text: null, tracking: false }),
  ]);
  const sent = calls[0]?.messages[0];
  expect(sent).toMatchObject({ From: 'a@fernpost.test', TrackOpens: false, TrackLinks: 'None' });
  for (const absent of ['ReplyTo', 'TextBody', 'Headers', 'Attachments']) expect(sent).not.toHaveProperty(absent);
});

test('verdicts stand in input order, across calls of 500 messages that share connections', async () => {
  const { url, calls } = await provider(takeAll);
  const verdicts = await mailerAt(url).send('c', messages(1201));
  expect(calls.map((call) => call.messages.length)).toEqual([500, 500, 201]);
  expect(new Set(calls.map((call) => call.connection)).size).toBeLessThan(3);
  expect(verdicts.map((verdict) => (verdict.kind === 'accepted' ? verdict.messageId : ''))).toEqual(
    messages(1201).map(({ emailId }) => `m-${emailId}`),
  );
});

test('a batch is closed before it holds more than the provider takes in a call', async () => {
  // Its clock stands still: on a busy machine 40 MB take so long that the rest would wait for another call.
  vi.useFakeTimers({ toFake: ['performance'] });
  const { url, calls } = await provider(takeAll);
  const content = 'A'.repeat(9 * 1024 * 1024);
  const files = [{ filename: 'a.zip', content, contentType: 'application/zip', contentId: null }];
  const verdicts = await mailerAt(url).send(
    'c',
    Array.from({ length: 12 }, (_, n) => message(n, n % 2 === 0 ? { attachments: files } : {})),
  );
  expect(verdicts.map((verdict) => (verdict.kind === 'accepted' ? verdict.messageId : verdict.kind))).toEqual(
    Array.from({ length: 12 }, (_, n) => `m-email-${n}`),
  );
  expect(calls.map((call) => call.messages.length)).toEqual([8, 4]);
});

test('the cheap bound of a message is never below its size', () => {
  const worst = message(1, {
    subject: '\u0001'.repeat(900),
    html: '\u0002"\n\ud800é'.repeat(1000),
    headers: [{ name: 'X-A', value: '"'.repeat(500) }],
    attachments: [
      {
        filename: '\u0001'.repeat(255),
        content: 'A'.repeat(999),
        contentType: '"'.repeat(255),
        contentId: '"'.repeat(255),
      },
    ],
  });
  const mapped = postmarkFields('c'.repeat(80), worst, { transactional: 'outbound', broadcast: 'broadcast' });
  expect(mostBytes(worst)).toBeGreaterThanOrEqual(Buffer.byteLength(JSON.stringify(mapped)));
});

test('a message over the size limit is refused without a call, and the others go', async () => {
  const { url, calls } = await provider(takeAll);
  const big = message(2, {
    attachments: [
      { filename: 'a.zip', content: 'A'.repeat(11_000_000), contentType: 'application/zip', contentId: null },
    ],
  });
  const verdicts = await mailerAt(url).send('c', [message(1), big, message(3)]);
  expect(verdicts.map((verdict) => verdict.kind)).toEqual(['accepted', 'rejected', 'accepted']);
  expect(verdicts[1]).toMatchObject({ code: 413, inactive: false });
  expect(calls.map((call) => call.messages.length)).toEqual([2]);
});

test.each([
  [300, { kind: 'rejected', code: 300, reason: 'said', inactive: false }],
  [400, { kind: 'rejected', code: 400, reason: 'said', inactive: false }],
  [401, { kind: 'rejected', code: 401, reason: 'said', inactive: false }],
  [402, { kind: 'rejected', code: 402, reason: 'said', inactive: false }],
  [406, { kind: 'rejected', code: 406, reason: 'said', inactive: true }],
  [411, { kind: 'rejected', code: 411, reason: 'said', inactive: false }],
  [1235, { kind: 'rejected', code: 1235, reason: 'said', inactive: false }],
  [405, { kind: 'retry', reason: 'provider error 405: said', afterMs: null, scope: 'account' }],
  [412, { kind: 'retry', reason: 'provider error 412: said', afterMs: null, scope: 'account' }],
  [413, { kind: 'retry', reason: 'provider error 413: said', afterMs: null, scope: 'account' }],
  [100, { kind: 'retry', reason: 'provider error 100: said', afterMs: null, scope: 'call' }],
])('error code %i of one message is a verdict on that message alone', async (code, expected) => {
  const { url } = await provider((call, response) =>
    json(
      response,
      200,
      call.messages.map((sent, n) => (n === 1 ? { ErrorCode: code, Message: 'said' } : taken(sent))),
    ),
  );
  const verdicts = await mailerAt(url).send('c', messages(3));
  expect(verdicts.map((verdict) => verdict.kind)).toEqual(['accepted', expected.kind, 'accepted']);
  expect(verdicts[1]).toEqual(expected);
});

test.each([
  [429, { 'Retry-After': '7' }, { kind: 'retry', afterMs: 7000, scope: 'call' }],
  [429, {}, { kind: 'retry', afterMs: 1000, scope: 'call' }],
  [503, {}, { kind: 'retry', afterMs: null, scope: 'call' }],
  [503, { 'Retry-After': '3' }, { kind: 'retry', afterMs: 3000, scope: 'call' }],
  [401, {}, { kind: 'retry', afterMs: null, scope: 'account' }],
  [404, {}, { kind: 'retry', afterMs: null, scope: 'account' }],
  [500, {}, { kind: 'unknown' }],
  [502, {}, { kind: 'unknown' }],
  [504, {}, { kind: 'unknown' }],
])('an answer of %i %o is a verdict on every message, after one call', async (status, headers, expected) => {
  const { url, calls } = await provider((_, response) =>
    json(response, status, { ErrorCode: 0, Message: 'x' }, headers),
  );
  const verdicts = await mailerAt(url).send('c', messages(3));
  expect(verdicts).toHaveLength(3);
  for (const verdict of verdicts)
    expect(verdict).toMatchObject({ ...expected, reason: expect.stringContaining(`answers ${status}`) });
  expect(calls).toHaveLength(1);
});

test('a whole call refused for its content is split until the spoiling message stands alone', async () => {
  const { url, calls } = await provider((call, response) => {
    const spoilt = call.messages.some((sent) => sent.Subject === 'Welcome 5');
    if (spoilt) json(response, 422, { ErrorCode: 402, Message: 'Invalid JSON' });
    else takeAll(call, response);
  });
  const verdicts = await mailerAt(url).send('c', messages(8));
  expect(verdicts.map((verdict) => verdict.kind)).toEqual([
    ...Array<string>(5).fill('accepted'),
    'rejected',
    'accepted',
    'accepted',
  ]);
  expect(verdicts[5]).toMatchObject({ code: 402, reason: 'Invalid JSON' });
  expect(calls.length).toBeLessThanOrEqual(7);
});

test('a call too large for the provider is halved; a single message that is too large is refused', async () => {
  const { url, calls } = await provider((call, response) => {
    if (call.messages.length > 2 || call.messages[0]?.Subject === 'Welcome 0') json(response, 413, {});
    else takeAll(call, response);
  });
  const verdicts = await mailerAt(url).send('c', messages(4));
  expect(verdicts.map((verdict) => verdict.kind)).toEqual(['rejected', 'accepted', 'accepted', 'accepted']);
  expect(calls.map((call) => call.messages.length)).toEqual([4, 2, 1, 1, 2]);
});

test('after a call that failed as a whole, the rest is not tried and not in doubt', async () => {
  const { url, calls } = await provider((_, response) => json(response, 500, {}));
  const verdicts = await mailerAt(url).send('c', messages(700));
  expect(calls).toHaveLength(1);
  expect(kinds(verdicts.slice(0, 500))).toEqual(['unknown']);
  expect(kinds(verdicts.slice(500))).toEqual(['retry']);
});

const long = (n: number) => `<p>${n}</p>${String(n % 10).repeat(20_000)}`;

test('bodies of many megabytes, side by side and read slowly, arrive whole and unmixed', async () => {
  const { url, calls } = await provider(takeAll, (request) => {
    request.pause();
    setTimeout(() => request.resume(), 30);
  });
  const mailer = mailerAt(url);
  const batches = Array.from({ length: 6 }, (_, batch) =>
    Array.from({ length: 120 }, (_, n) => message(1000 * batch + n, { html: long(1000 * batch + n) })),
  );
  for (let round = 0; round < 2; round += 1) {
    calls.length = 0;
    const verdicts = await Promise.all(batches.map((batch) => mailer.send('c', batch)));
    expect(kinds(verdicts.flat())).toEqual(['accepted']);
    expect(calls).toHaveLength(batches.length);
    for (const call of calls)
      for (const sent of call.messages) {
        const { eid } = sent.Metadata as { eid: string };
        if (sent.HtmlBody !== long(Number(eid.slice('email-'.length)))) throw new Error(`${eid} has another body`);
      }
  }
});

test('a provider that answers, or hangs up, before it has read a long body spoils no later one', async () => {
  let refusals = 0;
  const { url, calls } = await provider(takeAll, (request, response) => {
    if (refusals >= 2) return;
    refusals += 1;
    request.pause();
    if (refusals === 1) json(response, 503, {}, { Connection: 'close' });
    else request.socket.destroy();
  });
  const mailer = mailerAt(url);
  const batch = Array.from({ length: 200 }, (_, n) => message(n, { html: long(n) }));
  const refused = await Promise.all([mailer.send('c', batch), mailer.send('c', batch)]);
  for (const verdicts of refused) expect(kinds(verdicts)).not.toContain('accepted');
  calls.length = 0;
  expect(kinds(await mailer.send('c', batch))).toEqual(['accepted']);
  expect(calls[0]?.messages.map(({ HtmlBody }) => HtmlBody)).toEqual(batch.map(({ html }) => html));
});

test('nobody listening proves that nothing was sent; a connection cut after the request does not', async () => {
  const gone = await provider(takeAll);
  for (const close of closers.splice(0)) close();
  const refused = await mailerAt(gone.url).send('c', messages(2));
  expect(refused).toHaveLength(2);
  for (const verdict of refused) expect(verdict).toMatchObject({ kind: 'retry', scope: 'call' });

  const { url } = await provider((_, response) => response.socket?.destroy());
  expect(kinds(await mailerAt(url).send('c', messages(2)))).toEqual(['unknown']);
});

test('a name that does not resolve proves that nothing was sent', async () => {
  const verdicts = await mailerAt('http://fernpost-no-such-host.invalid').send('c', messages(1));
  expect(verdicts).toMatchObject([{ kind: 'retry', scope: 'call' }]);
});

test('an answer that does not come in time, breaks off or is no list leaves the messages in doubt', async () => {
  const silent = await provider(() => undefined);
  expect(kinds(await mailerAt(silent.url, { timeouts: { send: 80 } }).send('c', messages(2)))).toEqual(['unknown']);

  const broken = await provider((_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '1000' });
    response.write('[{"ErrorCode":0');
    setTimeout(() => response.destroy(), 20);
  });
  expect(kinds(await mailerAt(broken.url).send('c', messages(2)))).toEqual(['unknown']);

  const page = await provider((_, response) => response.writeHead(200).end('<html>Welcome to the proxy</html>'));
  expect(kinds(await mailerAt(page.url).send('c', messages(2)))).toEqual(['unknown']);

  const short = await provider((call, response) => json(response, 200, [taken(call.messages[0] ?? {})]));
  expect((await mailerAt(short.url).send('c', messages(2))).map((verdict) => verdict.kind)).toEqual([
    'accepted',
    'unknown',
  ]);
});

test('a claim is looked up in every stream, page by page, by exactly its metadata', async () => {
  const claim = '0198-run/3/12';
  const { url, calls } = await provider((call, response) => {
    const offset = Number(call.url.searchParams.get('offset'));
    const stream = call.url.searchParams.get('messagestream');
    const total = stream === 'outbound' ? 700 : 2;
    const page = Array.from({ length: Math.max(0, Math.min(500, total - offset)) }, (_, n) => ({
      MessageID: `m-${stream}-${offset + n}`,
      ReceivedAt: '2026-03-01T05:00:00.0000000-05:00',
      Metadata: { eid: `${stream}-${offset + n}`, claim: stream === 'broadcast' && n === 1 ? 'another' : claim },
    }));
    json(response, 200, { TotalCount: total, Messages: page });
  });
  const accepted = await mailerAt(url).accepted(claim);
  expect(accepted.size).toBe(701);
  expect(accepted.get('outbound-699')).toEqual({ messageId: 'm-outbound-699', at: '2026-03-01T10:00:00.000Z' });
  expect(accepted.has('broadcast-1')).toBe(false);
  expect(calls.map((call) => call.url.pathname)).toEqual(Array(3).fill('/messages/outbound'));
  for (const call of calls) {
    expect(call.url.searchParams.get('metadata_claim')).toBe(claim);
    expect(call.url.searchParams.get('count')).toBe('500');
  }
});

test('a search that cannot be answered rejects', async () => {
  const { url } = await provider((_, response) => json(response, 503, {}));
  await expect(mailerAt(url).accepted('c')).rejects.toThrow();
  const page = await provider((_, response) => response.writeHead(200).end('<html></html>'));
  await expect(mailerAt(page.url).accepted('c')).rejects.toThrow('without a list');
});

test('a base URL with a path keeps its path', async () => {
  const { url, calls } = await provider(takeAll);
  await mailerAt(`${url}/postmark/`).send('c', messages(1));
  expect(calls[0]?.url.pathname).toBe('/postmark/email/batch');
});

test('the register of domains is asked below the path of the API, and a domain that is gone counts as removed', async () => {
  const { calls, url } = await provider((_, response) => json(response, 404, { ErrorCode: 0, Message: 'Not found' }));
  const domains = createPostmarkDomains({ accountToken: 'token', apiUrl: `${url}/postmark/`, returnPathLabel: 'pm' });
  await domains.remove('7');
  expect(calls.map(({ method, url: { pathname } }) => `${method} ${pathname}`)).toEqual(['DELETE /postmark/domains/7']);
  await expect(domains.check('7')).rejects.toMatchObject({ statusCode: 404 });
});

const listed = (place: number) => ({
  MessageID: `message-${place}`,
  ReceivedAt: new Date(Date.UTC(2026, 0, 15) - place * 100).toISOString(),
  Recipients: ['one@example.com'],
  Subject: 'Hello',
  Tag: 'CAMPAIGN',
  Metadata: {
    eid: `01980000-0000-7000-8000-${String(place).padStart(12, '0')}`,
    pid: '01980000-0000-7000-8000-000000000000',
  },
});

/** Everything that is listed since an instant, by a search of so many messages that reads dates so many milliseconds later. */
async function listedSince(count: number, since: string, zoneMs = 0) {
  const all = Array.from({ length: count }, (_, place) => listed(place));
  const { url, calls } = await provider(({ url: { searchParams } }, response) => {
    const before = searchParams.get('todate');
    const until = before === null ? Number.POSITIVE_INFINITY : Date.parse(before) + zoneMs;
    const offset = Number(searchParams.get('offset'));
    const reached = searchParams.get('messagestream') === 'broadcast' ? all : [];
    const found = reached.filter(({ ReceivedAt }) => Date.parse(ReceivedAt) <= until);
    json(response, 200, { TotalCount: found.length, Messages: found.slice(offset, offset + 500) });
  });
  const streams = { transactional: 'outbound', broadcast: 'broadcast' };
  const mailer = createPostmarkMailer({ serverToken: 't', apiUrl: url, streams, log: { warn: () => undefined } });
  const ids = new Set<string>();
  let position: string | null = null;
  do {
    const page: ListedPage | undefined = await mailer.acceptedSince?.(since, position);
    for (const { messageId } of page?.messages ?? []) ids.add(messageId);
    position = page?.next ?? null;
  } while (position !== null);
  return { ids, calls: calls.length };
}

test('lists all that was accepted since an instant, further than a search reaches, and not what is older', async () => {
  const since = listed(10_600).ReceivedAt;
  const { ids, calls } = await listedSince(11_200, since);
  expect(ids.size).toBe(10_601);
  expect(calls).toBe(23);
});

test.each([-5, 5])('rejects a list with gaps, of a search that reads dates %i hours off', async (hours) => {
  await expect(listedSince(11_200, listed(10_600).ReceivedAt, hours * 3_600_000)).rejects.toThrow(/search/);
});
