import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { type DnsServer, startDnsServer } from '../../support/dns-server.ts';

let dns: DnsServer;
let database: TestDatabase;
let api: TestApi;
let project: TestProject;

beforeAll(async () => {
  dns = await startDnsServer({
    'example.org': {
      NS: ['ns.example.org'],
      MX: [{ priority: 10, exchange: 'mx.example.org' }],
      AAAA: ['2001:db8::1'],
    },
    'kunde.example': { NS: ['ns.kunde.example'], A: ['192.0.2.1'] },
    'posta.example': { NS: ['ns.posta.example'], MX: [{ priority: 0, exchange: '' }] },
    'net.example': { NS: ['ns.net.example'] },
    'mail.net.example': { MX: [{ priority: 1, exchange: 'mx.net.example' }] },
    'broken.example': { trouble: 'SERVFAIL' },
  });
  database = await testDatabase(2);
  api = await testApi(database, { DNS_SERVERS: dns.address });
  project = await aProject(database);
});

afterAll(async () => {
  await api?.close();
  await database?.close();
  await dns?.[Symbol.asyncDispose]();
});

async function verify(email: unknown) {
  return api.call(project.secretKey, 'POST', '/v1/verify', { email });
}

describe('a well-formed address', () => {
  test('of a domain that takes mail appears to be valid', async () => {
    const answer = await verify('2.jo@example.org');
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      success: true,
      data: {
        email: '2.jo@example.org',
        valid: true,
        isDisposable: false,
        isAlias: false,
        isTypo: false,
        isPlusAddressed: false,
        isPersonalEmail: false,
        domainExists: true,
        hasWebsite: true,
        hasMxRecords: true,
        reasons: ['Email appears to be valid'],
      },
    });
  });

  test('of a mistyped domain comes with the address that was meant', async () => {
    const answer = await verify('user@gmial.com');
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      success: true,
      data: {
        email: 'user@gmial.com',
        valid: false,
        isDisposable: false,
        isAlias: false,
        isTypo: true,
        isPlusAddressed: false,
        isPersonalEmail: false,
        domainExists: false,
        hasWebsite: false,
        hasMxRecords: false,
        suggestedEmail: 'user@gmail.com',
        reasons: ['Possible typo detected, did you mean gmail.com?', 'Domain does not exist (no nameservers found)'],
      },
    });
  });

  test('is repeated as it was sent and judged by its domain in lower case', async () => {
    const answer = await verify(' Ada+Lists@MAIL.Net.Example ');
    expect(answer.status).toBe(200);
    expect(answer.body.data).toMatchObject({
      email: ' Ada+Lists@MAIL.Net.Example ',
      valid: true,
      isPlusAddressed: true,
      domainExists: true,
      hasMxRecords: true,
      hasWebsite: false,
    });
  });

  test.each([
    [
      'has no mail servers',
      'x.1.anna@kunde.example',
      { domainExists: true, hasWebsite: true, hasMxRecords: false, valid: false },
    ],
    ['takes no mail by a null MX', 'anna@posta.example', { domainExists: true, hasMxRecords: false, valid: false }],
    ['cannot be looked up', 'anna@broken.example', { domainExists: false, hasMxRecords: false, valid: false }],
  ])('whose domain %s is not valid: %s', async (_, email, facts) => {
    const answer = await verify(email);
    expect(answer.status).toBe(200);
    expect(answer.body.data).toMatchObject(facts);
  });

  test('of a throw-away, a free and a forwarding domain is told as what it is', async () => {
    expect((await verify('ada@mailinator.com')).body.data).toMatchObject({
      isDisposable: true,
      isPersonalEmail: false,
      isAlias: false,
    });
    expect((await verify('ada@gmx.de')).body.data).toMatchObject({
      isDisposable: false,
      isPersonalEmail: true,
      isAlias: false,
    });
    expect((await verify('ada@duck.com')).body.data).toMatchObject({
      isDisposable: false,
      isPersonalEmail: false,
      isAlias: true,
    });
  });

  test('costs the name server nothing when its domain was just looked up', async () => {
    await verify('2.jo@example.org');
    const before = dns.questions.length;
    expect((await verify('somebody.else@example.org')).body.data).toMatchObject({ valid: true });
    expect(dns.questions.length).toBe(before);
  });
});

describe('refused with the field and its problem', () => {
  test.each([
    ['not-an-email', 'invalid_string'],
    ['', 'invalid_string'],
    ['ada@home@example.org', 'invalid_string'],
    ['Ada <ada@example.org>', 'invalid_string'],
    ['jürgen@example.org', 'invalid_string'],
  ])('%j is no address', async (email, code) => {
    const answer = await verify(email);
    expect(answer.status).toBe(422);
    expect(answer.body.error).toMatchObject({ code: 'VALIDATION_ERROR', errors: [{ field: 'email', code }] });
  });

  test.each([
    [5, 'number'],
    [null, 'null'],
    [['ada@example.org'], 'array'],
  ])('%j is no text', async (email, received) => {
    const answer = await verify(email);
    expect(answer.status).toBe(422);
    expect(answer.body.error.errors).toMatchObject([{ field: 'email', code: 'invalid_type', received }]);
  });

  test('a missing address', async () => {
    const answer = await api.call(project.secretKey, 'POST', '/v1/verify', {});
    expect(answer.status).toBe(422);
    expect(answer.body.error.errors).toMatchObject([{ field: 'email', code: 'invalid_type', received: 'undefined' }]);
  });
});

describe('who may ask', () => {
  const body = { email: '2.jo@example.org' };

  test('nobody without a key, nor with the public one', async () => {
    const none = await api.call(null, 'POST', '/v1/verify', body);
    expect([none.status, none.body.error.code]).toEqual([401, 'MISSING_AUTH']);
    const open = await api.call(project.publicKey, 'POST', '/v1/verify', body);
    expect([open.status, open.body.error.code]).toEqual([401, 'INVALID_API_KEY']);
  });

  test('a browser of any origin is let to read the answer', async () => {
    const answer = await api.call(project.secretKey, 'POST', '/v1/verify', body, { Origin: 'https://shop.example' });
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  });
});
