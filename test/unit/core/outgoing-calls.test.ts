import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callLimits, callOut, NoAnswer, type OutgoingRequest } from '../../../src/http/guarded-requests/call.ts';
import { AddressRefused, guardedConnector } from '../../../src/http/guarded-requests/guard.ts';
import { type DnsServer, startDnsServer } from '../../support/dns-server.ts';
import { receiverCertificate, startReceiver } from '../../support/receiver.ts';

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
    headers: { authorization: 'Bearer s3cret', 'user-agent': 'fernpost' },
    ownHeaders: { 'x-fernpost-delivery': 'delivery-1' },
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

  test.each([22, 25, 53, 465, 587, 3306, 5432, 6379, 11211, 27017])(
    'port %i is refused before anything is looked up, unless its host is allowed',
    async (port) => {
      await expect(call(`http://unknown.test:${port}/`)).rejects.toThrow(
        new AddressRefused(`Requests to port ${port} of unknown.test are refused: it does not speak HTTP`),
      );
      await expect(call(`http://unknown.test:${port}/`, [`unknown.test:${port}`])).rejects.toThrow(NoAnswer);
    },
  );

  test.each([80, 443, 81, 444, 3000, 8080, 8443, 8888, 49_152])('port %i is not', async (port) => {
    await expect(call(`http://private.test:${port}/`)).rejects.toThrow(/not public/);
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
    expect(last?.headers['x-fernpost-delivery']).toBe('delivery-1');
  });

  test('the headers of the author are not shown to another host', async () => {
    await using receiver = await hops(307, (port) => `http://other.test:${port}/end`);
    await call(`http://receiver.test:${receiver.port}/`, ['receiver.test', 'other.test']);
    const [first, last] = receiver.requests;
    expect(first?.headers.authorization).toBe('Bearer s3cret');
    expect(last?.headers.host).toBe(`other.test:${receiver.port}`);
    expect(last?.headers.authorization).toBeUndefined();
    expect(last?.headers['x-fernpost-delivery']).toBe('delivery-1');
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
