import { describe, expect, test } from 'vitest';
import {
  cachedResolver,
  dnsResolver,
  type RecordType,
  type Resolver,
} from '../../../src/accounts/verification/addresses/verify.ts';
import { startDnsServer } from '../../support/dns-server.ts';

const everyType: RecordType[] = ['NS', 'MX', 'A', 'AAAA'];

async function found(resolver: Resolver, name: string): Promise<RecordType[]> {
  const answers = await Promise.all(everyType.map((type) => resolver.hasRecord(name, type)));
  return everyType.filter((_, i) => answers[i]);
}

describe('asking a name server', () => {
  test('finds the records that are there, and no others', async () => {
    await using dns = await startDnsServer({
      'mail.example.net': {
        NS: ['ns1.example.net', 'ns2.example.net'],
        MX: [{ priority: 10, exchange: 'mx.example.net' }],
      },
      'kunde.example': { A: ['192.0.2.7'] },
      'posta.example': { AAAA: ['2001:db8::7'], TXT: ['v=spf1 -all'] },
      'www.posta.example': { CNAME: 'kunde.example' },
      'empty.example': {},
    });
    const resolver = dnsResolver({ servers: [dns.address] });
    expect(await found(resolver, 'mail.example.net')).toEqual(['NS', 'MX']);
    expect(await found(resolver, 'kunde.example')).toEqual(['A']);
    expect(await found(resolver, 'posta.example')).toEqual(['AAAA']);
    expect(await found(resolver, 'www.posta.example')).toEqual(['A']);
    expect(await found(resolver, 'empty.example')).toEqual([]);
    expect(await found(resolver, 'nowhere.example')).toEqual([]);
    expect(dns.questions).toContain('MX nowhere.example');
  });

  test('takes a single null MX for none, and one among others for what the others are', async () => {
    await using dns = await startDnsServer({
      'nomail.example': { MX: [{ priority: 0, exchange: '' }] },
      'odd.example': {
        MX: [
          { priority: 0, exchange: '' },
          { priority: 5, exchange: 'mx.odd.example' },
        ],
      },
    });
    const resolver = dnsResolver({ servers: [dns.address] });
    expect(await resolver.hasRecord('nomail.example', 'MX')).toBe(false);
    expect(await resolver.hasRecord('odd.example', 'MX')).toBe(true);
    expect(dns.questions).toContain('MX nomail.example');
  });

  test('counts a failure, a server that is gone and a name that cannot exist as no record', async () => {
    await using dns = await startDnsServer({
      'broken.example': { trouble: 'SERVFAIL', MX: [{ priority: 1, exchange: 'mx.example' }] },
    });
    const resolver = dnsResolver({ servers: [dns.address] });
    expect(await resolver.hasRecord('broken.example', 'MX')).toBe(false);
    expect(dns.questions).toContain('MX broken.example');
    expect(await resolver.hasRecord(`${'a'.repeat(64)}.example`, 'MX')).toBe(false);
    const gone = await startDnsServer({ 'kunde.example': { A: ['192.0.2.7'] } });
    await gone[Symbol.asyncDispose]();
    expect(await dnsResolver({ servers: [gone.address], timeoutMs: 500 }).hasRecord('kunde.example', 'A')).toBe(false);
  });

  test('gives up on silent servers when the time for the whole lookup is over, however many there are', async () => {
    const silent = { 'slow.example': { trouble: 'SILENT' as const } };
    await using first = await startDnsServer(silent);
    await using second = await startDnsServer(silent);
    await using third = await startDnsServer(silent);
    const resolver = dnsResolver({ servers: [first.address, second.address, third.address], timeoutMs: 300 });
    expect(await resolver.hasRecord('slow.example', 'MX')).toBe(false);
    const asked = () => [first, second, third].flatMap((server) => server.questions).length;
    // A question may reach its server only after the time is over.
    await expect.poll(asked).toBeGreaterThan(0);
    // Three attempts at each of three servers would be nine.
    expect(asked()).toBeLessThan(9);
  });

  test('sees a change of the zone at once', async () => {
    await using dns = await startDnsServer();
    const resolver = dnsResolver({ servers: [dns.address] });
    expect(await resolver.hasRecord('new.example', 'A')).toBe(false);
    dns.zones['new.example'] = { A: ['192.0.2.8'] };
    expect(await resolver.hasRecord('new.example', 'A')).toBe(true);
  });
});

describe('the memory of answers', () => {
  function counting(answers: Record<string, boolean>): Resolver & { asked: string[] } {
    const asked: string[] = [];
    return {
      asked,
      async hasRecord(name, type) {
        asked.push(`${type} ${name}`);
        return answers[`${type} ${name}`] ?? false;
      },
    };
  }

  test('asks once for the same question within five minutes, and again afterwards', async () => {
    let now = 1_000;
    const answers = { 'MX kunde.example': true };
    const inner = counting(answers);
    const resolver = cachedResolver(inner, { now: () => now });
    expect(await resolver.hasRecord('kunde.example', 'MX')).toBe(true);
    answers['MX kunde.example'] = false;
    now += 300_000;
    expect(await resolver.hasRecord('kunde.example', 'MX')).toBe(true);
    expect(inner.asked).toHaveLength(1);
    now += 1;
    expect(await resolver.hasRecord('kunde.example', 'MX')).toBe(false);
    expect(inner.asked).toHaveLength(2);
  });

  test('forgets a missing record after one minute', async () => {
    let now = 1_000;
    const answers: Record<string, boolean> = {};
    const inner = counting(answers);
    const resolver = cachedResolver(inner, { now: () => now });
    expect(await resolver.hasRecord('posta.example', 'NS')).toBe(false);
    answers['NS posta.example'] = true;
    now += 60_000;
    expect(await resolver.hasRecord('posta.example', 'NS')).toBe(false);
    now += 1;
    expect(await resolver.hasRecord('posta.example', 'NS')).toBe(true);
  });

  test('keeps names and types apart', async () => {
    const inner = counting({ 'MX kunde.example': true });
    const resolver = cachedResolver(inner);
    expect(await found(resolver, 'kunde.example')).toEqual(['MX']);
    expect(await found(resolver, 'posta.example')).toEqual([]);
    expect(inner.asked).toHaveLength(8);
  });

  test('lets callers at the same time share one lookup', async () => {
    const inner = counting({ 'MX kunde.example': true });
    const resolver = cachedResolver(inner);
    const answers = await Promise.all(Array.from({ length: 50 }, () => resolver.hasRecord('kunde.example', 'MX')));
    expect(answers.every(Boolean)).toBe(true);
    expect(inner.asked).toHaveLength(1);
  });

  test('keeps no more than its capacity, and drops what was unused for longest', async () => {
    const inner = counting({});
    const resolver = cachedResolver(inner, { capacity: 2 });
    for (const name of ['a.example', 'b.example', 'a.example', 'c.example', 'a.example', 'b.example']) {
      await resolver.hasRecord(name, 'A');
    }
    expect(inner.asked).toEqual(['A a.example', 'A b.example', 'A c.example', 'A b.example']);
  });
});
