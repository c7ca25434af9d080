import { createSandbox, type Sandbox } from '@fernpost/mail-sandbox';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { removeOldAudit } from '../../../src/projects/audit/queries.ts';
import { recordChange } from '../../../src/projects/audit/record.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { anAutomation } from '../../support/automation-fixtures.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aContact } from '../../support/delivery-fixtures.ts';
import { aPerson, joins, type Person } from '../../support/people.ts';

let database: TestDatabase;
let sandbox: Sandbox;
let api: TestApi;
let project: TestProject;
let admin: Person;

interface Entry {
  id: string;
  action: string;
  target: string | null;
  position: number;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
}

beforeAll(async () => {
  database = await testDatabase();
  const nowhere = { dataDir: null, webhookUrl: null, webhookUser: '', webhookPassword: '', delayMs: 0 };
  sandbox = await createSandbox({ host: '127.0.0.1', port: 0, ...nowhere });
  api = await testApi(database, { POSTMARK_API_URL: sandbox.url });
  admin = await aPerson(database.db, api.config, { name: 'livia.sand' });
});

beforeEach(async () => {
  project = await aProject(database, 'Ledger');
  await joins(database.db, project.id, admin, 'ADMIN');
});

afterAll(async () => {
  await api?.close();
  await sandbox?.close();
  await database?.close();
});

const asAdmin = (method: string, path: string, body?: unknown) =>
  api.call(null, method, path, body, { ...admin.session, 'X-Project-Id': project.id });
const withKey = (method: string, path: string, body?: unknown) => api.call(project.secretKey, method, path, body);
const log = async (query = '') => (await asAdmin('GET', `/projects/${project.id}/audit-log${query}`)).body;
const verify = async () => (await asAdmin('GET', `/projects/${project.id}/audit-log/verify`)).body;
const actions = async () => (await log()).data.map(({ action }: Entry) => action).toReversed();
const settings = () => `/users/@me/projects/${project.id}`;

async function succeeds(request: Promise<{ status: number; body: { id?: string; data?: { id: string } } }>) {
  const { status, body } = await request;
  expect(status, JSON.stringify(body)).toBeLessThan(300);
  return body?.data?.id ?? body?.id ?? '';
}

describe('the log', () => {
  test('says who changed what, from what to what, and in which request', async () => {
    const changed = await asAdmin('PATCH', settings(), { name: 'Renamed', tracking: 'ENABLED' });
    const { data, cursor } = await log();
    expect(cursor).toBeNull();
    expect(data).toEqual([
      {
        id: expect.any(String),
        position: 1,
        at: expect.any(String),
        actor: { kind: 'user', id: admin.id, name: admin.email },
        action: 'project.updated',
        target: project.id,
        before: { name: 'Ledger' },
        after: { name: 'Renamed' },
        requestId: changed.headers.get('x-request-id'),
        ipHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
    await succeeds(asAdmin('PATCH', settings(), { name: 'Renamed' }));
    expect(await actions(), 'nothing has changed').toHaveLength(1);
  });

  test('has keys, members, domains, endpoints and settings', async () => {
    const keys = `${settings()}/api-keys`;
    const key = await succeeds(asAdmin('POST', keys, { name: 'Shop', scopes: ['templates'] }));
    await succeeds(asAdmin('PATCH', `${keys}/${key}`, { scopes: ['audit'] }));
    await succeeds(asAdmin('POST', `${keys}/${key}/rotate`, {}));
    await succeeds(asAdmin('DELETE', `${keys}/${key}`));
    const guest = await aPerson(database.db, api.config, { name: 'otto.wirth' });
    const members = `/projects/${project.id}/members`;
    await succeeds(asAdmin('POST', members, { email: guest.email, role: 'MEMBER' }));
    await succeeds(asAdmin('PATCH', `${members}/${guest.id}`, { role: 'ADMIN' }));
    await succeeds(asAdmin('DELETE', `${members}/${guest.id}`));
    const domain = await succeeds(asAdmin('POST', '/domains', { domain: `new-${project.domain}` }));
    await succeeds(asAdmin('DELETE', `/domains/${domain}`));
    const url = 'https://example.com/hooks/very-private-path';
    const endpoint = await succeeds(asAdmin('POST', '/webhook-endpoints', { url, events: ['*'] }));
    await succeeds(asAdmin('PATCH', `/webhook-endpoints/${endpoint}`, { paused: true }));
    await succeeds(asAdmin('POST', `/webhook-endpoints/${endpoint}/rotate-secret`, {}));
    await succeeds(asAdmin('DELETE', `/webhook-endpoints/${endpoint}`));
    await succeeds(asAdmin('POST', `${settings()}/regenerate-keys`));
    expect(await actions()).toEqual([
      ...['api_key.created', 'api_key.updated', 'api_key.rotated', 'api_key.deleted'],
      ...['member.added', 'member.updated', 'member.removed', 'domain.added', 'domain.removed'],
      ...['webhook_endpoint.created', 'webhook_endpoint.updated', 'webhook_endpoint.secret_rotated'],
      ...['webhook_endpoint.deleted', 'project.keys_replaced'],
    ]);
    expect(await verify()).toEqual({ valid: true, entries: 14, missing: 0, firstChanged: null });
    expect(JSON.stringify(await log())).not.toContain('very-private-path');
  });

  test('has campaigns, workflows, jobs, deletions and re-subscriptions', async () => {
    const contact = await aContact(database.db, project.id, 'pia.stern@example.org');
    await succeeds(withKey('PATCH', `/contacts/${contact}`, { subscribed: false }));
    await succeeds(withKey('PATCH', `/contacts/${contact}`, { subscribed: true, reason: 'asked by phone' }));
    await succeeds(withKey('PATCH', `/contacts/${contact}`, { subscribed: true }));
    const campaign = await succeeds(
      withKey('POST', '/campaigns', {
        ...{ name: 'News', subject: 'News', body: '<p>News</p>', from: project.sender, audienceType: 'ALL' },
      }),
    );
    const scheduledFor = new Date(Date.now() + 3_600_000).toISOString();
    await succeeds(withKey('POST', `/campaigns/${campaign}/send`, { scheduledFor }));
    await succeeds(withKey('POST', `/campaigns/${campaign}/cancel`));
    await succeeds(withKey('DELETE', `/campaigns/${campaign}`));
    const { id } = await anAutomation(database.db, project.id, {
      steps: { pause: ['DELAY', { amount: 1, unit: 'days' }] },
    });
    const { enabled } = (await withKey('GET', `/workflows/${id}`)).body;
    await succeeds(withKey('PATCH', `/workflows/${id}`, { enabled: !enabled }));
    await succeeds(withKey('DELETE', `/workflows/${id}`));
    await succeeds(withKey('POST', '/contacts/bulk-unsubscribe', { mode: 'ids', contactIds: [contact] }));
    await succeeds(withKey('DELETE', `/contacts/${contact}`));
    expect(await actions()).toEqual([
      ...['contact.resubscribed', 'campaign.scheduled', 'campaign.cancelled', 'campaign.deleted'],
      ...[enabled ? 'workflow.disabled' : 'workflow.enabled', 'workflow.deleted', 'bulk.started', 'contact.deleted'],
    ]);
    const [{ after }] = (await log('?action=contact.resubscribed')).data;
    expect(after).toEqual({ reason: 'asked by phone' });
  });

  test('has suppression rules, limits, edits of graphs, exports and contacts that are subscribed again by their address', async () => {
    const rule = { name: 'Tests', kind: 'DOMAIN', pattern: 'test.example' };
    const id = await succeeds(withKey('POST', '/suppressions', rule));
    await succeeds(withKey('PUT', `/suppressions/${id}`, { ...rule, enabled: false }));
    await succeeds(withKey('PUT', `/suppressions/${id}`, { ...rule, enabled: false }));
    const limits = { workflows: null, campaigns: 5, transactional: null, inbound: null };
    await succeeds(asAdmin('PUT', `${settings()}/billing-limits`, limits));
    const person = { email: 'pia.stern@example.org' };
    for (const subscribed of [true, false, true, true])
      await succeeds(withKey('POST', '/contacts', { ...person, subscribed }));
    const workflow = await anAutomation(database.db, project.id, {
      steps: { pause: ['DELAY', { amount: 1, unit: 'days' }] },
    });
    const steps = `/workflows/${workflow.id}/steps`;
    await succeeds(withKey('PATCH', `${steps}/${workflow.steps.pause}`, { name: 'Wait' }));
    const campaign = await succeeds(
      withKey('POST', '/campaigns', {
        ...{ name: 'News', subject: 'News', body: '<p>News</p>', from: project.sender, audienceType: 'ALL' },
      }),
    );
    await succeeds(withKey('GET', `/campaigns/${campaign}/recipients?format=csv`));
    await succeeds(asAdmin('GET', `/projects/${project.id}/audit-log?format=csv`));
    expect(await actions()).toEqual([
      ...['suppression_rule.created', 'suppression_rule.updated', 'project.limits_changed', 'contact.resubscribed'],
      ...['workflow.graph_edited', 'campaign.recipients_exported', 'audit_log.exported'],
    ]);
    const changesOf = async (action: string) => {
      const [{ before, after }] = (await log(`?action=${action}`)).data;
      return { before, after };
    };
    expect(await changesOf('suppression_rule.updated')).toEqual({
      before: { enabled: true },
      after: { enabled: false },
    });
    expect(await changesOf('project.limits_changed')).toEqual({ before: { campaigns: null }, after: { campaigns: 5 } });
    expect(await verify()).toMatchObject({ valid: true });
  });

  test('has nothing of what is sent and tracked, nor of what was refused', async () => {
    await succeeds(
      withKey('POST', '/v1/send', { to: 'a@example.org', from: project.sender, subject: 'Hi', body: '<p>Hi</p>' }),
    );
    await succeeds(api.call(project.publicKey, 'POST', '/v1/track', { event: 'came', email: 'a@example.org' }));
    expect((await withKey('DELETE', `/campaigns/${project.id}`)).status).toBe(404);
    expect(await actions()).toEqual([]);
    expect(await verify()).toEqual({ valid: true, entries: 0, missing: 0, firstChanged: null });
  });

  test('is found by actor, action and target, and read page by page', async () => {
    const keys = `${settings()}/api-keys`;
    const made = (await asAdmin('POST', keys, { name: 'Reader', scopes: ['audit', 'contacts:write'] })).body;
    const contacts = await Promise.all(
      ['a', 'b', 'c'].map((name) => aContact(database.db, project.id, `${name}@example.org`)),
    );
    for (const id of contacts) await succeeds(api.call(made.key, 'DELETE', `/contacts/${id}`));
    await succeeds(withKey('PATCH', settings(), { name: 'Other' }));
    const count = async (query: string) => (await log(query)).data.length;
    expect(await count(`?actor=${made.id}`)).toBe(3);
    expect([await count('?actor=key'), await count(`?actor=${admin.id}`)]).toEqual([4, 1]);
    expect([await count('?action=contact'), await count('?action=contact.deleted')]).toEqual([3, 3]);
    expect(await count(`?target=${contacts[1]}`)).toBe(1);
    const first = (await api.call(made.key, 'GET', `/projects/${project.id}/audit-log?limit=3`)).body;
    const second = await log(`?limit=3&cursor=${first.cursor}`);
    expect([...first.data, ...second.data].map(({ position }: Entry) => position)).toEqual([5, 4, 3, 2, 1]);
    expect(second.cursor).toBeNull();
    expect(first.data[1].actor).toEqual({ kind: 'key', id: made.id, name: 'Reader' });
    const csv: string = await log('?format=csv&action=project');
    const [names, line, end] = csv.split('\r\n');
    expect([names?.split(',').length, line?.startsWith('5,'), end]).toEqual([11, true, '']);
  });

  test('keeps no key, secret or hash of one', async () => {
    const keys = `${settings()}/api-keys`;
    const made = (await asAdmin('POST', keys, { name: 'Shop', scopes: ['templates'] })).body;
    const rotated = (await asAdmin('POST', `${keys}/${made.id}/rotate`, {})).body;
    const replaced = (await asAdmin('POST', `${settings()}/regenerate-keys`)).body;
    await succeeds(asAdmin('PATCH', settings(), { name: 'Named', hideSecretKey: true }));
    const endpoint = (await asAdmin('POST', '/webhook-endpoints', { url: 'https://example.com/', events: ['*'] })).body;
    await database.db.transaction((tx) =>
      recordChange(tx, project.id, {
        action: 'test.made',
        after: { secret: 'whsec_plain', apiToken: 'tok plain', key: 'k' },
      }),
    );
    const rows = await database.db.rows<{ row: string }>(
      'select a::text as row from audit_log a where project_id = $1',
      [project.id],
    );
    expect(rows).toHaveLength(6);
    const text = rows.map(({ row }) => row).join('\n');
    const hidden = [made.key, rotated.key, replaced.secret, replaced.public, project.secretKey, endpoint.secret];
    for (const secret of hidden) expect(text).not.toContain(String(secret).slice(6));
    expect(text).not.toMatch(/(sk|pk|rk)_[0-9a-f]{16}|whsec_|tok plain|sealed/);
    expect(text).toContain('hideSecretKey');
  });
});

describe('the chain', () => {
  async function three(): Promise<Entry[]> {
    for (const name of ['One', 'Two', 'Three']) await succeeds(asAdmin('PATCH', settings(), { name }));
    expect(await verify()).toEqual({ valid: true, entries: 3, missing: 0, firstChanged: null });
    return (await log()).data.toReversed();
  }

  test.each([0, 1, 2])('breaks where entry %i is changed', async (place) => {
    const entry = (await three())[place];
    await database.db.count(`update audit_log set after = '{"name":"Never"}' where id = $1`, [entry?.id]);
    const firstChanged = { id: entry?.id, position: entry?.position };
    expect(await verify()).toEqual({ valid: false, entries: 3, missing: 0, firstChanged });
  });

  test.each([0, 1, 2])('breaks where entry %i is removed', async (place) => {
    await database.db.count('delete from audit_log where id = $1', [(await three())[place]?.id]);
    expect(await verify()).toMatchObject({ valid: false, entries: 2, missing: 1 });
  });

  test('holds when many change at once', async () => {
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => succeeds(asAdmin('PATCH', settings(), { name: `Name ${n}` }))),
    );
    const { valid, entries } = await verify();
    expect([valid, entries]).toEqual([true, (await actions()).length]);
  });

  test('goes on when the oldest entries are removed after 400 days', async () => {
    const [oldest] = await three();
    await database.db.count(`update audit_log set at = at - interval '401 days' where id = $1`, [oldest?.id]);
    expect(await removeOldAudit(database.db, 100)).toBe(1);
    expect(await verify()).toEqual({ valid: true, entries: 2, missing: 0, firstChanged: null });
  });

  test('is written in the transaction of the change, and nowhere else', async () => {
    await expect(recordChange(database.db, project.id, { action: 'test.made' })).rejects.toThrow('transaction');
    const undone = database.db.transaction(async (tx) => {
      await recordChange(tx, project.id, { action: 'test.made' });
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await actions()).toEqual([]);
  });
});
