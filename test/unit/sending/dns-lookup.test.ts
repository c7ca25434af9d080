import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DnsLookup, dnsLookup } from '../../../src/domains/records/findings.ts';
import { type DnsServer, startDnsServer } from '../../support/dns-server.ts';

let server: DnsServer;
let dns: DnsLookup;
beforeAll(async () => {
  server = await startDnsServer({
    'long.acme.example': { TXT: ['a'.repeat(300)] },
    'bounces.acme.example': { CNAME: 'PM.mtasv.net' },
    'acme.example': { MX: [{ priority: 5, exchange: 'MX.acme.example' }] },
    'broken.example': { trouble: 'SERVFAIL' },
  });
  dns = dnsLookup([server.address]);
});
afterAll(() => server[Symbol.asyncDispose]());

test('texts are put together from their parts, and names are in lower case', async () => {
  expect(await dns.txt('long.acme.example')).toEqual({ kind: 'found', values: ['a'.repeat(300)] });
  expect(await dns.cname('bounces.acme.example')).toEqual({ kind: 'found', values: ['pm.mtasv.net'] });
  expect(await dns.mx('acme.example')).toEqual({
    kind: 'found',
    values: [{ priority: 5, exchange: 'mx.acme.example' }],
  });
});

test('a name that does not exist and one without such a record are absent; a server that fails proves nothing', async () => {
  expect(await dns.txt('nowhere.example')).toEqual({ kind: 'absent' });
  expect(await dns.txt('acme.example')).toEqual({ kind: 'absent' });
  expect(await dns.txt('broken.example')).toEqual({ kind: 'unanswered', reason: 'ESERVFAIL' });
});
