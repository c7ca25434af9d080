import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { StepFailure } from '../../src/automations/runtime/failure.ts';
import { AddressRefused, guardedConnector } from '../../src/automations/runtime/guard.ts';
import { callLimits, callOut, NoAnswer, type OutgoingRequest } from '../../src/automations/runtime/http-call.ts';
import { keptResponse, type WebhookFacts, webhookRequest } from '../../src/automations/runtime/webhook-request.ts';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { receiverCertificate, startReceiver } from '../support/receiver.ts';

let dns: DnsServer;
const never = new AbortController().signal;

beforeAll(async () => {
  dns = await startDnsServer({
    'receiver.test': { A: ['127.0.0.1'] },
    'other.test': { A: ['127.0.0.1'] },
    'private.test': { A: ['10.1.2.3'] },
    'metadata.test': { A: ['169.254.169.254'] },
    'mixed.test': { A: ['93.184.215.14', '127.0.0.1'] },
    'six.test': { AAAA: ['::ffff:127.0.0.1'] },
    'nat64.test': { AAAA: ['64:ff9b::7f00:1'] },
    'alias.test': { CNAME: 'receiver.test' },
  });
});
afterAll(() => dns[Symbol.asyncDispose]());

function request(url: string, changes: Partial<OutgoingRequest> = {}): OutgoingRequest {
  return {
    url: new URL(url),
    method: 'POST',
    headers: { authorization: 'Bearer s3cret', 'user-agent': 'posthorn' },
    ownHeaders: { 'x-posthorn-delivery': 'delivery-1' },
    body: '{"who":"ada@acme.test"}',
    ...changes,
  };
}

const call = (url: string, allowedHosts: string[] = [], changes: Partial<OutgoingRequest> = {}, hopMs = 2_000) =>
  callOut(guardedConnector({ allowedHosts, dnsServers: [dns.address] }, hopMs), request(url, changes), never, {
    ...callLimits,
    hopMs,
  });

describe('addresses', () => {
  test.each([
    'private.test',
    'metadata.test',
    'receiver.test',
    'alias.test',
    'six.test',
    'nat64.test',
    '127.0.0.1',
    '169.254.169.254',
    '[::1]',
    '[::ffff:10.0.0.1]',
    '0x7f.1',
    '2130706433',
    '017700000001',
  ])('http://%s/ is refused before anything is sent', async (host) => {
    await using receiver = await startReceiver();
    await expect(call(`http://${host}:${receiver.port}/`)).rejects.toThrow(AddressRefused);
    expect(receiver.requests).toEqual([]);
  });

  test('a name with one private address among public ones is refused', async () => {
    await using receiver = await startReceiver();
    await expect(call(`http://mixed.test:${receiver.port}/`)).rejects.toThrow(/mixed\.test are refused/);
    expect(receiver.requests).toEqual([]);
  });

  test('the text of a refusal does not tell the address of the inner network', async () => {
    const refusal = await call('http://private.test/').catch((error: Error) => error);
    expect(String(refusal)).not.toContain('10.1.2.3');
  });

  test('a name that answers a public address first and a private one later is never followed to the private one', async () => {
    await using receiver = await startReceiver();
    let asked = 0;
    dns.zones['rebind.test'] = {
      get A() {
        asked += 1;
        return asked === 1 ? ['93.184.215.14'] : ['127.0.0.1'];
      },
    };
    await expect(call(`http://rebind.test:${receiver.port}/`, [], {}, 500)).rejects.toThrow(NoAnswer);
    expect(asked).toBe(1);
    expect(receiver.requests).toEqual([]);
  });

  test('hosts that the operator allows are reached, by name and by name with port', async () => {
    await using receiver = await startReceiver();
    const url = `http://receiver.test:${receiver.port}/in`;
    expect((await call(url, ['Receiver.test'])).statusCode).toBe(200);
    expect((await call(url, [`receiver.test:${receiver.port}`])).statusCode).toBe(200);
    await expect(call(url, ['receiver.test:1'])).rejects.toThrow(AddressRefused);
    expect(receiver.requests).toHaveLength(2);
  });

  test('a redirect to a private address is refused', async () => {
    await using inner = await startReceiver();
    await using receiver = await startReceiver((_, response) => {
      response.writeHead(302, { location: `http://127.0.0.1:${inner.port}/secret` }).end();
    });
    await expect(call(`http://receiver.test:${receiver.port}/`, ['receiver.test'])).rejects.toThrow(AddressRefused);
    expect(inner.requests).toEqual([]);
  });

  test('a redirect to another scheme is refused', async () => {
    await using receiver = await startReceiver((_, response) => {
      response.writeHead(302, { location: 'file:///etc/passwd' }).end();
    });
    await expect(call(`http://receiver.test:${receiver.port}/`, ['receiver.test'])).rejects.toThrow(AddressRefused);
  });
});

describe('redirects', () => {
  const hops = (status: number, to: (port: number) => string) =>
    startReceiver((received, response) => {
      if (received.url === '/end') return void response.writeHead(200).end('done');
      response.writeHead(status, { location: to(Number(received.headers.host?.split(':')[1])) }).end();
    });

  test.each([307, 308])('%i keeps method, body and headers', async (status) => {
    await using receiver = await hops(status, () => '/end');
    await call(`http://receiver.test:${receiver.port}/`, ['receiver.test'], { method: 'PUT' });
    const [, last] = receiver.requests;
    expect(last).toMatchObject({ method: 'PUT', body: '{"who":"ada@acme.test"}' });
    expect(last?.headers).toMatchObject({ authorization: 'Bearer s3cret', 'content-type': 'application/json' });
  });

  test.each([301, 302, 303])('%i becomes a GET without a body', async (status) => {
    await using receiver = await hops(status, () => '/end');
    await call(`http://receiver.test:${receiver.port}/`, ['receiver.test'], { headers: { 'content-type': 'text/x' } });
    const [, last] = receiver.requests;
    expect(last).toMatchObject({ method: 'GET', body: '' });
    expect(last?.headers['content-type']).toBeUndefined();
    expect(last?.headers['x-posthorn-delivery']).toBe('delivery-1');
  });

  test('the headers of the author are not shown to another host', async () => {
    await using receiver = await hops(307, (port) => `http://other.test:${port}/end`);
    await call(`http://receiver.test:${receiver.port}/`, ['receiver.test', 'other.test']);
    const [first, last] = receiver.requests;
    expect(first?.headers.authorization).toBe('Bearer s3cret');
    expect(last?.headers.host).toBe(`other.test:${receiver.port}`);
    expect(last?.headers.authorization).toBeUndefined();
    expect(last?.headers['x-posthorn-delivery']).toBe('delivery-1');
  });

  test('five are followed, a sixth is not', async () => {
    const chain = (length: number) =>
      startReceiver((received, response) => {
        const step = Number(received.url.slice(1));
        if (step === length) return void response.writeHead(204).end();
        response.writeHead(302, { location: `/${step + 1}` }).end();
      });
    await using five = await chain(5);
    expect((await call(`http://receiver.test:${five.port}/0`, ['receiver.test'])).statusCode).toBe(204);
    await using six = await chain(6);
    await expect(call(`http://receiver.test:${six.port}/0`, ['receiver.test'])).rejects.toThrow(/more than 5 times/);
    expect(six.requests).toHaveLength(6);
  });
});

describe('answers', () => {
  test('a receiver that answers too slowly is no answer, and may have been reached', async () => {
    await using receiver = await startReceiver(() => undefined);
    const failure = await call(`http://receiver.test:${receiver.port}/`, ['receiver.test'], {}, 300).catch((e) => e);
    expect(failure).toBeInstanceOf(NoAnswer);
    expect(failure).toMatchObject({ written: true, message: expect.stringContaining('no answer within 0.3 s') });
  });

  test('of a huge answer the first 64 KiB are kept', async () => {
    await using receiver = await startReceiver((_, response) => {
      response.writeHead(200);
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    });
    const answer = await call(`http://receiver.test:${receiver.port}/`, ['receiver.test']);
    expect(answer.truncated).toBe(true);
    expect(answer.body).toHaveLength(65_536);
  });

  test('an answer whose body never ends is kept as far as it came', async () => {
    await using receiver = await startReceiver((_, response) => void response.writeHead(201).write('so far'));
    const answer = await call(`http://receiver.test:${receiver.port}/`, ['receiver.test'], {}, 300);
    expect(answer).toMatchObject({ statusCode: 201, truncated: true });
    expect(answer.body.toString()).toBe('so far');
  });

  test('a refused connection and a name without an address prove that nothing was written', async () => {
    const closed = await startReceiver();
    await closed[Symbol.asyncDispose]();
    await expect(call(`http://receiver.test:${closed.port}/`, ['receiver.test'])).rejects.toMatchObject({
      written: false,
      message: expect.stringContaining('the connection was refused'),
    });
    await expect(call('http://nowhere.test/')).rejects.toMatchObject({
      written: false,
      message: 'nowhere.test: the name has no address',
    });
  });

  test('a name server that keeps silent is no answer, within the time of the hop', async () => {
    dns.zones['silent.test'] = { trouble: 'SILENT' };
    await expect(call('http://silent.test/', [], {}, 300)).rejects.toMatchObject({ name: 'NoAnswer', written: false });
  });

  test('a connection that is cut after the request was written may have been an arrival', async () => {
    await using receiver = await startReceiver((_, response) => void response.destroy());
    await expect(call(`http://receiver.test:${receiver.port}/`, ['receiver.test'])).rejects.toMatchObject({
      written: true,
    });
  });

  test('what is no HTTP is no answer', async () => {
    const server = createServer((socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    await expect(call(`http://receiver.test:${port}/`, ['receiver.test'])).rejects.toThrow(NoAnswer);
    server.close();
  });

  test('a certificate that nobody vouches for is no answer, and nothing was written', async () => {
    await using receiver = await startReceiver(undefined, { tls: true });
    await expect(call(`https://receiver.test:${receiver.port}/`, ['receiver.test'])).rejects.toMatchObject({
      written: false,
    });
    expect(receiver.requests).toEqual([]);
  });

  test('TLS is spoken with the name that was asked for', async () => {
    await using receiver = await startReceiver(undefined, { tls: true });
    const settings = {
      dnsServers: [dns.address],
      ca: receiverCertificate,
      allowedHosts: ['receiver.test', 'other.test'],
    };
    const connect = guardedConnector(settings, 2_000);
    const answer = await callOut(connect, request(`https://receiver.test:${receiver.port}/`), never);
    expect(answer.statusCode).toBe(200);
    // The certificate is not of this name.
    await expect(callOut(connect, request(`https://other.test:${receiver.port}/`), never)).rejects.toThrow(NoAnswer);
  });
});

const facts: WebhookFacts = {
  contact: {
    id: '0190f3a2-0000-7000-8000-000000000001',
    email: 'ada@acme.test',
    subscribed: true,
    data: { plan: 'pro', region: 'eu west', evil: 'x\r\nX-Injected: 1', template: '{{email}}', name: 'Zoë 🐦' },
    createdAt: '2026-01-05T08:00:00.000Z',
    updatedAt: '2026-01-05T08:00:00.000Z',
  },
  context: { total: 620, id: 'not the contact', email: 'not@the.contact' },
  urls: { unsubscribeUrl: 'https://p.test/u', subscribeUrl: 'https://p.test/s', manageUrl: 'https://p.test/m' },
  stepRunId: '0190f3a2-0000-7000-8000-00000000000a',
  automation: { id: '0190f3a2-0000-7000-8000-00000000000b', name: 'Onboarding' },
  run: { id: '0190f3a2-0000-7000-8000-00000000000c', startedAt: '2026-03-02T10:00:00.000Z' },
};

describe('the request of a webhook step', () => {
  test('fills in path, headers and every string of the body, each once', () => {
    const { url, method, headers, ownHeaders, body } = webhookRequest(
      {
        url: 'https://hooks.acme.test/{{data.region}}?who={{ email | url_encode }}',
        headers: { Authorization: 'Bearer s3cret', 'X-Plan': '{{plan}}', Host: 'evil.test', 'Content-Length': '3' },
        body: {
          who: '{{email}}',
          total: '{{event.total}}',
          nested: [{ plan: '{{data.plan}}' }, 7, null],
          raw: '{{template}}',
        },
      },
      facts,
    );
    expect(url.href).toBe('https://hooks.acme.test/eu%20west?who=ada%40acme.test');
    expect(method).toBe('POST');
    expect(headers).toEqual({ authorization: 'Bearer s3cret', 'x-plan': 'pro', 'user-agent': 'posthorn' });
    expect(ownHeaders).toEqual({ 'x-posthorn-delivery': facts.stepRunId });
    expect(JSON.parse(body ?? '')).toEqual({
      who: 'ada@acme.test',
      total: '620',
      nested: [{ plan: 'pro' }, 7, null],
      raw: '{{email}}',
    });
  });

  test.each([undefined, null, '', 0, false])('a body of %j is the default payload', (body) => {
    expect(JSON.parse(webhookRequest({ url: 'https://hooks.acme.test/', body }, facts).body ?? '')).toEqual({
      contact: { email: 'ada@acme.test', subscribed: true, data: facts.contact.data },
      workflow: { id: facts.automation.id, name: 'Onboarding' },
      execution: { id: facts.run.id, startedAt: facts.run.startedAt },
      event: facts.context,
    });
  });

  test('without a context the default payload has an empty event', () => {
    const { body } = webhookRequest({ url: 'https://hooks.acme.test/' }, { ...facts, context: null });
    expect(JSON.parse(body ?? '').event).toEqual({});
  });

  test('a GET has no body', () => {
    expect(webhookRequest({ url: 'https://hooks.acme.test/', method: 'GET', body: { a: 1 } }, facts).body).toBeNull();
  });

  test('a context cannot shadow what the service says of the contact', () => {
    const { body } = webhookRequest({ url: 'https://hooks.acme.test/', body: '{{id}} {{email}}' }, facts);
    expect(JSON.parse(body ?? '')).toBe(`${facts.contact.id} ada@acme.test`);
  });

  test('other letters than ASCII travel in headers as UTF-8', () => {
    const { headers } = webhookRequest({ url: 'https://h.test/', headers: { 'X-Name': '{{name}}' } }, facts);
    expect(Buffer.from(headers['x-name'] ?? '', 'latin1').toString()).toBe('Zoë 🐦');
  });

  test('a line break in a rendered header fails the step', () => {
    expect(() => webhookRequest({ url: 'https://h.test/', headers: { 'X-Evil': '{{evil}}' } }, facts)).toThrow(
      StepFailure,
    );
  });

  test.each(['bad name', 'x:y', '', 'x\r\ny'])('a header called %j fails the step', (name) => {
    expect(() => webhookRequest({ url: 'https://h.test/', headers: { [name]: '1' } }, facts)).toThrow(StepFailure);
  });

  test.each([
    '{{scheme}}://hooks.acme.test/',
    'https://{{host}}/',
    'https://hooks.acme.test{{suffix}}',
    'https://hooks.acme.test{{suffix}}/path',
    'https://{% if true %}a{% endif %}/',
    'ftp://hooks.acme.test/',
    'file:///etc/passwd',
    'hooks.acme.test/path',
    'https://user:pw@hooks.acme.test/',
    'https:///path',
    'https://',
    '',
  ])('an address whose scheme or host is not literal fails the step: %s', (url) => {
    expect(() => webhookRequest({ url }, facts)).toThrow(StepFailure);
  });

  test.each(['get', 'TRACE', 'CONNECT', '{{method}}'])('the method %s fails the step', (method) => {
    expect(() => webhookRequest({ url: 'https://h.test/', method }, facts)).toThrow(StepFailure);
  });
});

describe('what is kept of an answer', () => {
  test.each([
    ['{"a":[1,null]}', { a: [1, null] }],
    ['plain text', 'plain text'],
    ['', ''],
    ['{"half":', '{"half":'],
    ['{"nul":"\\u0000","half":"\\ud800"}', { nul: '\ufffd', half: '\ufffd' }],
    ['nul \0', 'nul \ufffd'],
  ])('%j', (text, kept) => {
    expect(keptResponse(Buffer.from(text), false)).toEqual(kept);
  });

  test('JSON that was cut is text', () => {
    expect(keptResponse(Buffer.from('{"a":1}'), true)).toBe('{"a":1}');
  });

  test('bytes that are no text do no harm, nor does deep nesting', () => {
    expect(keptResponse(Buffer.from([0xff, 0xfe, 0x00]), false)).toBe('\ufffd\ufffd\ufffd');
    const deep = '['.repeat(30_000) + ']'.repeat(30_000);
    expect(keptResponse(Buffer.from(deep), false)).toBe(deep);
  });
});
