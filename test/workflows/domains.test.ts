import { createPublicKey, createSign, createVerify } from 'node:crypto';
import { createSandbox, type Sandbox } from '@fernpost/mail-sandbox';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { domainActivities } from '../../activities/sweeps.ts';
import { signingKey } from '../../src/domains/queries.ts';
import { newId } from '../../src/lib/ids.ts';
import { unseal } from '../../src/lib/seal.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../support/api.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { type TestWorker, testWorker } from '../support/worker.ts';

let database: TestDatabase;
let dns: DnsServer;
let postmark: Sandbox;
/** One API whose domains get keys of our own, and one that asks Postmark's register. */
let own: TestApi;
let register: TestApi;
let project: TestProject;

const real = { POSTMARK_SERVER_TOKEN: 'a-token' };

beforeAll(async () => {
  database = await testDatabase();
  dns = await startDnsServer();
  postmark = await createSandbox({
    host: '127.0.0.1',
    port: 0,
    dataDir: null,
    webhookUrl: null,
    webhookUser: '',
    webhookPassword: '',
    delayMs: 0,
  });
  own = await testApi(database, { ...real, DNS_SERVERS: dns.address });
  register = await testApi(database, {
    ...real,
    POSTMARK_ACCOUNT_TOKEN: 'an-account',
    POSTMARK_API_URL: postmark.url,
    DNS_SERVERS: dns.address,
  });
});
afterAll(async () => {
  await own.close();
  await register.close();
  await postmark.close();
  await dns[Symbol.asyncDispose]();
  await database.close();
});
beforeEach(async () => {
  project = await aProject(database);
  await database.db.count('delete from domains where project_id = $1', [project.id]);
  dns.zones = {};
});

const add = (api: TestApi, domain: string) => api.call(project.secretKey, 'POST', '/domains', { domain });
const records = (body: { records: { purpose: string }[] }, purpose: string) =>
  body.records.find((record) => record.purpose === purpose) as unknown as {
    name: string;
    value: string;
    status: string;
    finding: string | null;
  };

async function send(api: TestApi, domain: string): Promise<number> {
  const mail = { to: 'reader@example.com', from: `hello@${domain}`, subject: 'Heron', body: 'Look up.' };
  return (await api.call(project.secretKey, 'POST', '/v1/send', mail)).status;
}

async function stateOf(id: string) {
  await database.db.count(`update domains set checked_at = now() - interval '1 minute' where id = $1`, [id]);
  const api = own;
  return (await api.call(project.secretKey, 'GET', `/domains/${id}/verify`)).body;
}

function workerOf(api: TestApi): Promise<TestWorker> {
  const { app } = api;
  return testWorker({
    queues: ['bulk'],
    activities: domainActivities({
      db: database.db,
      provider: app.domainProvider,
      dns: app.dns,
      tell: app.tellMembers,
      dispatchSoon: () => undefined,
      log: app.log,
    }),
  });
}

/** One round of the schedule, at which every domain is due. */
async function round(worker: TestWorker) {
  await database.db.count('update domains set due_at = now() - make_interval(secs => 1)');
  const id = `domains-${newId()}`;
  await worker.perform({ type: 'start', workflow: 'domainSweep', id, input: null });
  return worker.result<{ checked: number; failed: number; stopped: number; removed: number }>(id);
}

async function mails(kind: string): Promise<number> {
  const row = await database.db.row<{ count: number }>(
    `select count(*)::int as count from system_mails where kind = $1 and dedupe_key like '%' || (
       select id from domains where project_id = $2 limit 1) || '%'`,
    [kind, project.id],
  );
  return row?.count ?? 0;
}

describe('a domain with a key of our own', () => {
  test('goes from pending to verified to failed as its record comes and goes in the DNS', async () => {
    await using worker = await workerOf(own);
    const { status, body: domain } = await add(own, 'heron-books.example');
    expect([status, domain.status, domain.verified]).toEqual([201, 'Pending', false]);
    const dkim = records(domain, 'DKIM');
    expect(dkim.name).toBe(`${domain.dkimTokens[0]}._domainkey.heron-books.example`);
    expect(await round(worker)).toMatchObject({ failed: 0 });
    expect(await stateOf(domain.id)).toMatchObject({ status: 'Pending', verified: false });
    expect(await send(own, 'heron-books.example')).toBe(403);

    dns.zones = { [dkim.name]: { TXT: ['v=DKIM1; k=rsa; p=AAAA'] } };
    await round(worker);
    const wrong = await stateOf(domain.id);
    expect([wrong.status, records(wrong, 'DKIM').finding]).toEqual(['Pending', 'found v=DKIM1 with another key']);

    dns.zones = { [dkim.name]: { TXT: [dkim.value] } };
    await round(worker);
    const listed = (await own.call(project.secretKey, 'GET', `/domains/project/${project.id}`)).body[0];
    expect(listed).toMatchObject({ status: 'Success', verified: true });
    expect(records(listed, 'DKIM')).toMatchObject({ status: 'verified', finding: null });
    expect(records(listed, 'DMARC')).toMatchObject({ status: 'pending' });
    await expect.poll(() => send(own, 'heron-books.example')).toBe(200);
    expect(await mails('domain-verified')).toBe(1);

    dns.zones = {};
    await round(worker);
    await round(worker);
    expect(await stateOf(domain.id)).toMatchObject({ status: 'Success', verified: true });
    await round(worker);
    const lost = await stateOf(domain.id);
    expect(lost).toMatchObject({ status: 'Failed', verified: false });
    expect(records(lost, 'DKIM')).toMatchObject({ status: 'failed', finding: `no TXT record found at ${dkim.name}` });
    await expect.poll(() => send(own, 'heron-books.example')).toBe(403);
    expect(await mails('domain-lost')).toBe(1);

    dns.zones = { [dkim.name]: { TXT: [dkim.value] } };
    await round(worker);
    expect(await stateOf(domain.id)).toMatchObject({ status: 'Success', verified: true });
    // Members hear of it once in seven days.
    expect(await mails('domain-verified')).toBe(1);
  });

  test('name servers that do not answer are a temporary failure, and cost a verified domain nothing', async () => {
    await using worker = await workerOf(own);
    const { body: domain } = await add(own, 'quiet-books.example');
    const dkim = records(domain, 'DKIM');
    dns.zones = { [dkim.name]: { trouble: 'SERVFAIL' } };
    await round(worker);
    expect((await stateOf(domain.id)).status).toBe('TemporaryFailure');
    dns.zones = { [dkim.name]: { TXT: [dkim.value] } };
    await round(worker);
    dns.zones = { [dkim.name]: { trouble: 'SERVFAIL' } };
    for (let n = 0; n < 4; n++) await round(worker);
    expect(await stateOf(domain.id)).toMatchObject({ status: 'Success', verified: true });
  });

  test('signs with a 2048-bit key that nothing shows, once it is verified', async () => {
    await using worker = await workerOf(own);
    const { body: domain } = await add(own, 'signed-books.example');
    const dkim = records(domain, 'DKIM');
    expect(JSON.stringify(domain)).not.toContain('PRIVATE');
    expect(await signingKey(database.db, own.config.APP_ENCRYPTION_KEY, 'signed-books.example')).toBeNull();
    dns.zones = { [dkim.name]: { TXT: [dkim.value] } };
    await round(worker);
    const key = await signingKey(database.db, own.config.APP_ENCRYPTION_KEY, 'Signed-Books.example');
    expect(key).toMatchObject({ domainName: 'signed-books.example', keySelector: domain.dkimTokens[0] });
    const published = createPublicKey({
      key: Buffer.from(dkim.value.split('p=')[1] ?? '', 'base64'),
      format: 'der',
      type: 'spki',
    });
    expect(published.asymmetricKeyDetails?.modulusLength).toBe(2048);
    const signature = createSign('sha256')
      .update('Look up.')
      .sign(key?.privateKey ?? '');
    expect(createVerify('sha256').update('Look up.').verify(published, signature)).toBe(true);
    const row = await database.db.row<{ sealed: string }>(
      'select dkim_key_sealed as sealed from domains where id = $1',
      [domain.id],
    );
    expect(row?.sealed).not.toContain('PRIVATE');
    expect(() => unseal(row?.sealed ?? '', 'another key that is long enough to be one')).toThrow();
  });

  test('one that has waited for a month is looked at once an hour', async () => {
    await using worker = await workerOf(own);
    const { body: domain } = await add(own, 'late-books.example');
    await database.db.count(`update domains set pending_since = now() - interval '31 days' where id = $1`, [domain.id]);
    await round(worker);
    const row = await database.db.row<{ minutes: number }>(
      'select (extract(epoch from due_at - now()) / 60)::int as minutes from domains where id = $1',
      [domain.id],
    );
    expect(row?.minutes).toBeGreaterThan(50);
  });
});

describe("a domain in Postmark's register", () => {
  test('is verified when Postmark says so, and lost when its record goes', async () => {
    await using worker = await workerOf(register);
    const { body: domain } = await add(register, 'stork-books.example');
    expect(domain).toMatchObject({ status: 'Pending', verified: false });
    expect(records(domain, 'RETURN_PATH').value).toBe('pm.mtasv.net');
    const dkim = records(domain, 'DKIM');
    await round(worker);
    expect(await stateOf(domain.id)).toMatchObject({ status: 'Success', verified: true });
    dns.zones = { [dkim.name]: { TXT: [dkim.value] } };
    await round(worker);
    dns.zones = {};
    for (let n = 0; n < 3; n++) await round(worker);
    expect(await stateOf(domain.id)).toMatchObject({ status: 'Failed', verified: false });
  });

  test('that was deleted while Postmark was away is removed there later', async () => {
    const { body: domain } = await add(register, 'gone-books.example');
    await using away = await testApi(database, {
      ...real,
      POSTMARK_ACCOUNT_TOKEN: 'an-account',
      POSTMARK_API_URL: 'http://127.0.0.1:9',
      DNS_SERVERS: dns.address,
    });
    const answer = await away.call(project.secretKey, 'DELETE', `/domains/${domain.id}`);
    expect([answer.status, answer.body]).toEqual([200, { success: true }]);
    await using worker = await workerOf(register);
    await database.db.count('update domain_removals set due_at = now() - make_interval(secs => 1)');
    expect((await round(worker)).removed).toBe(1);
    expect((await database.db.rows('select 1 from domain_removals')).length).toBe(0);
  });
});
