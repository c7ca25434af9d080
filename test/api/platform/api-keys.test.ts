import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aPerson, joins, type Person } from '../../support/people.ts';

let database: TestDatabase;
let api: TestApi;
let second: TestApi;
let project: TestProject;
let admin: Person;
let ahead = 0;
const clock = () => new Date(Date.now() + ahead);
const hourMs = 3_600_000;

beforeAll(async () => {
  database = await testDatabase();
  [api, second] = await Promise.all([testApi(database, {}, { clock }), testApi(database, {}, { clock })]);
  admin = await aPerson(database.db, api.config, { name: 'ines.varga' });
  project = await aProject(database, 'Lighthouse');
  await joins(database.db, project.id, admin, 'ADMIN');
});

afterAll(async () => {
  await second?.close();
  await api?.close();
  await database?.close();
});

const keysOf = (of = project) => `/users/@me/projects/${of.id}/api-keys`;
const asAdmin = (method: string, path: string, body?: unknown) => api.call(null, method, path, body, admin.session);

async function aKey(body: object = {}, of = project): Promise<{ id: string; key: string }> {
  const made = await asAdmin('POST', keysOf(of), { name: 'Mailer', scopes: ['emails:send'], ...body });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return made.body;
}

const mailTo = (to: string | string[], of = project) => ({ to, from: of.sender, subject: 'Hello', body: '<p>Hi</p>' });

describe('keys with scopes', () => {
  test('are shown once, stored as a hash, and listed by prefix, scopes and who made them', async () => {
    const { id, key } = await aKey({ name: ' Shop ', scopes: ['emails:read', 'emails:send', 'emails:send'] });
    expect(key).toMatch(/^rk_[0-9a-f]{64}$/);
    const listed = (await asAdmin('GET', keysOf())).body.find((each: { id: string }) => each.id === id);
    expect(listed).toEqual({
      id,
      name: 'Shop',
      prefix: key.slice(0, 11),
      scopes: ['emails:send', 'emails:read'],
      senderDomains: null,
      recipients: null,
      mcp: null,
      expiresAt: null,
      overlapUntil: null,
      lastUsedAt: null,
      createdBy: { id: admin.id, email: admin.email },
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    const stored = await database.db.row<{ row: string }>('select k::text as row from api_keys k where id = $1', [id]);
    expect(stored?.row).not.toContain(key.slice(3));
    expect(stored?.row).not.toContain(key.slice(12));
  });

  test('say what they lack', async () => {
    const { key } = await aKey({ scopes: ['emails:send', 'templates'] });
    const refused = await api.call(key, 'GET', '/contacts');
    expect(refused.status).toBe(403);
    expect(refused.body.error).toMatchObject({
      code: 'SCOPE_MISSING',
      details: { needed: 'contacts:read', has: ['emails:send', 'templates'] },
    });
    expect((await api.call(key, 'POST', '/v1/send', mailTo('ada@example.org'))).status).toBe(200);
  });

  test('track events where the scope says so', async () => {
    const { key } = await aKey({ scopes: ['events:write'] });
    const tracked = await api.call(key, 'POST', '/v1/track', { event: 'opened door', email: 'kim@example.org' });
    expect(tracked.status).toBe(200);
  });

  test.each([
    ['no scopes', { scopes: [] }],
    ['a scope that is none', { scopes: ['everything'] }],
    ['no name', { name: ' ' }],
    ['no sender domain', { senderDomains: [] }],
    ['what is no domain', { senderDomains: ['a@b.example'] }],
    ['an expiry in the past', { expiresAt: '2020-01-01T00:00:00Z' }],
    ['an expiry that is no instant', { expiresAt: 'tomorrow' }],
  ])('are refused with %s', async (_, body) => {
    const made = await asAdmin('POST', keysOf(), { name: 'Mailer', scopes: ['emails:send'], ...body });
    expect([made.status, made.body.error.code]).toEqual([422, 'VALIDATION_ERROR']);
  });

  test('change their name and scopes, at once everywhere', async () => {
    const { id, key } = await aKey();
    expect((await second.call(key, 'GET', '/templates')).status).toBe(403);
    const changed = await asAdmin('PATCH', `${keysOf()}/${id}`, { name: 'Designer', scopes: ['templates'] });
    expect([changed.status, changed.body.name, changed.body.scopes]).toEqual([200, 'Designer', ['templates']]);
    expect((await second.call(key, 'GET', '/templates')).status).toBe(200);
    expect((await second.call(key, 'POST', '/v1/send', mailTo('ada@example.org'))).status).toBe(403);
  });

  test('are refused everywhere as soon as they are deleted', async () => {
    const { id, key } = await aKey({ scopes: ['templates'] });
    expect((await second.call(key, 'GET', '/templates')).status).toBe(200);
    expect((await asAdmin('DELETE', `${keysOf()}/${id}`)).status).toBe(204);
    for (const each of [second, api]) {
      const { status, body } = await each.call(key, 'GET', '/templates');
      expect([status, body.error.code]).toEqual([401, 'INVALID_API_KEY']);
    }
    expect((await asAdmin('DELETE', `${keysOf()}/${id}`)).status).toBe(404);
  });

  test('of another project are not found', async () => {
    const other = await aProject(database, 'Elsewhere');
    await joins(database.db, other.id, admin, 'ADMIN');
    const { id } = await aKey({}, other);
    for (const [method, path] of [
      ['PATCH', ''],
      ['POST', '/rotate'],
      ['DELETE', ''],
    ] as const)
      expect((await asAdmin(method, `${keysOf()}/${id}${path}`, {})).status, method).toBe(404);
    expect((await asAdmin('GET', keysOf(other))).body).toHaveLength(1);
  });

  test('note when they were last used, at most every five minutes', async () => {
    const { id, key } = await aKey({ scopes: ['templates'] });
    const lastUsed = async () =>
      (await asAdmin('GET', keysOf())).body.find((each: { id: string }) => each.id === id).lastUsedAt;
    await api.call(key, 'GET', '/templates');
    const first = await lastUsed();
    expect(first).not.toBeNull();
    await api.call(key, 'GET', '/templates');
    expect(await lastUsed()).toBe(first);
    ahead = 6 * 60_000;
    await api.call(key, 'GET', '/templates');
    expect(Date.parse(await lastUsed()) - Date.parse(first)).toBeGreaterThanOrEqual(6 * 60_000);
    ahead = 0;
  });

  test('expire', async () => {
    const { key } = await aKey({ scopes: ['templates'], expiresAt: new Date(Date.now() + hourMs).toISOString() });
    expect((await second.call(key, 'GET', '/templates')).status).toBe(200);
    ahead = hourMs;
    expect((await second.call(key, 'GET', '/templates')).status).toBe(401);
    ahead = 0;
  });

  test('are at most 100 a project, also when made at once', async () => {
    const full = await aProject(database, 'Full');
    await joins(database.db, full.id, admin, 'ADMIN');
    await database.db.count(
      `insert into api_keys (id, project_id, name, prefix, hash, scopes)
       select uuidv7(), $1, 'Old', 'rk_', sha256(n::text::bytea), '{templates}' from generate_series(1, 98) n`,
      [full.id],
    );
    const made = await Promise.all(
      [1, 2, 3, 4].map((n) => asAdmin('POST', keysOf(full), { name: `New ${n}`, scopes: ['templates'] })),
    );
    expect(made.map(({ status }) => status).toSorted()).toEqual([201, 201, 409, 409]);
  });

  test('go with their project', async () => {
    const gone = await aProject(database, 'Gone');
    await joins(database.db, gone.id, admin, 'ADMIN');
    const { key } = await aKey({ scopes: ['templates'] }, gone);
    expect((await second.call(key, 'GET', '/templates')).status).toBe(200);
    expect((await asAdmin('DELETE', `/users/@me/projects/${gone.id}`)).status).toBe(200);
    expect((await second.call(key, 'GET', '/templates')).status).toBe(401);
  });
});

describe('rotation', () => {
  test('never refuses either key during the overlap, under load over two processes, and refuses the old one at its end', async () => {
    const { id, key: old } = await aKey({ scopes: ['templates'] });
    const statuses: number[] = [];
    let current = old;
    let over = false;
    const load = [api, second, api, second].map(async (each) => {
      while (!over) {
        statuses.push((await each.call(old, 'GET', '/templates')).status);
        statuses.push((await each.call(current, 'GET', '/templates')).status);
      }
    });
    const rotated = await asAdmin('POST', `${keysOf()}/${id}/rotate`, { overlapHours: 2 });
    current = rotated.body.key;
    expect(rotated.body.overlapUntil).not.toBeNull();
    for (let calls = 0; calls < 10; calls++) await second.call(current, 'GET', '/templates');
    over = true;
    await Promise.all(load);
    expect(current).not.toBe(old);
    expect(new Set(statuses)).toEqual(new Set([200]));
    ahead = 2 * hourMs;
    for (const each of [api, second]) {
      expect((await each.call(old, 'GET', '/templates')).status).toBe(401);
      expect((await each.call(current, 'GET', '/templates')).status).toBe(200);
    }
    ahead = 0;
  });

  test('without an overlap ends the old key everywhere, and one that still overlaps', async () => {
    const { id, key: oldest } = await aKey({ scopes: ['templates'] });
    const rotate = async (overlapHours?: number) =>
      (await asAdmin('POST', `${keysOf()}/${id}/rotate`, { overlapHours })).body.key;
    const older = await rotate();
    expect((await second.call(oldest, 'GET', '/templates')).status).toBe(200);
    const newest = await rotate(0);
    for (const key of [oldest, older]) expect((await second.call(key, 'GET', '/templates')).status).toBe(401);
    expect((await second.call(newest, 'GET', '/templates')).status).toBe(200);
  });

  test('refuses an overlap of more than a week', async () => {
    const { id } = await aKey();
    for (const overlapHours of [169, -1, 1.5])
      expect((await asAdmin('POST', `${keysOf()}/${id}/rotate`, { overlapHours })).status).toBe(422);
  });
});

describe('limits of a key', () => {
  test('senderDomains: mail from elsewhere is refused, whether the request or a template says so', async () => {
    const { key } = await aKey({ scopes: ['emails:send', 'templates'], senderDomains: ['Only.Example'] });
    const refused = await api.call(key, 'POST', '/v1/send', mailTo('ada@example.org'));
    expect([refused.status, refused.body.error.code]).toEqual([403, 'FORBIDDEN']);
    expect(refused.body.error.details).toEqual({ reason: 'sender', domain: project.domain, allowed: ['only.example'] });
    const receipt = { name: 'Receipt', subject: 'Hi', body: '<p>Hi</p>', from: project.sender, type: 'TRANSACTIONAL' };
    expect((await api.call(key, 'POST', '/templates', receipt)).status).toBe(403);
    const template = await api.call(project.secretKey, 'POST', '/templates', receipt);
    const id = template.body.data?.id ?? template.body.id;
    expect((await api.call(key, 'POST', '/v1/send', { to: 'ada@example.org', template: id })).status).toBe(403);
    const { key: allowed } = await aKey({ senderDomains: [project.domain] });
    expect((await api.call(allowed, 'POST', '/v1/send', mailTo('ada@example.org'))).status).toBe(200);
  });

  test('recipients: mail to others is kept as suppressed and answered like any', async () => {
    const { id, key } = await aKey({
      scopes: ['emails:send', 'emails:read'],
      recipients: { domains: ['Inside.Example'], addresses: ['Guest@Example.org'] },
    });
    const to = ['a@inside.example', 'guest@example.org', 'b@outside.example', 'c@sub.inside.example'];
    const sent = await api.call(key, 'POST', '/v1/send', mailTo(to));
    expect(sent.status).toBe(200);
    const statuses = await Promise.all(
      sent.body.data.emails.map(async ({ email }: { email: string }) => {
        const row = await database.db.row<{ suppressed: boolean; name: string | null; queued: boolean }>(
          `select status = 'SUPPRESSED' as suppressed, suppression ->> 'name' as name,
             exists (select 1 from email_queue q where q.email_id = e.id) as queued from emails e where id = $1`,
          [email],
        );
        return row;
      }),
    );
    const goes = { suppressed: false, name: null, queued: true };
    const stays = { suppressed: true, name: 'key may not send to it', queued: false };
    expect(statuses).toEqual([goes, goes, stays, stays]);
    const kept = await api.call(key, 'GET', `/suppressions/emails/${sent.body.data.emails[2].email}`);
    expect(kept.body.suppression).toMatchObject({ ruleId: id, kind: 'KEY', recipient: 'b@outside.example' });
  });

  test('recipients: a test key without any reaches nobody', async () => {
    const { key } = await aKey({ recipients: {} });
    const sent = await api.call(key, 'POST', '/v1/send', mailTo('ada@example.org'));
    const row = await database.db.row<{ status: string }>('select status from emails where id = $1', [
      sent.body.data.emails[0].email,
    ]);
    expect([sent.status, row?.status]).toEqual([200, 'SUPPRESSED']);
  });
});

test('a key moves, releases, cancels and resends mail that it could have sent, and no other', async () => {
  const { key } = await aKey({ recipients: { domains: ['inside.example'] }, senderDomains: [project.domain] });
  const { key: elsewhere } = await aKey({ senderDomains: ['only.example'] });
  const { key: reader } = await aKey({ scopes: ['emails:read'] });
  const to = ['a@inside.example', 'b@outside.example'];
  const sent = await api.call(project.secretKey, 'POST', '/v1/send', { ...mailTo(to), hold: '1h' });
  const [mine, others] = sent.body.data.emails.map(({ email }: { email: string }) => `/v1/emails/${email}`);
  const scheduledFor = new Date(Date.now() + 24 * hourMs).toISOString();
  const verdict = async (by: string, path: string, action: 'PATCH' | 'release' | 'cancel' | 'resend') => {
    const { status, body } = await (action === 'PATCH'
      ? api.call(by, 'PATCH', path, { scheduledFor })
      : api.call(by, 'POST', `${path}/${action}`, {}));
    return status === 200 ? body.status : [status, body.error.code, body.error.details?.reason];
  };
  for (const path of [mine, others])
    expect(await verdict(elsewhere, path, 'resend')).toEqual([403, 'FORBIDDEN', 'sender']);
  expect(await verdict(key, others, 'resend')).toEqual([403, 'FORBIDDEN', 'recipient']);
  expect(await verdict(key, mine, 'resend')).toEqual([409, 'EMAIL_NOT_FAILED', undefined]);
  for (const action of ['PATCH', 'release', 'cancel'] as const) {
    expect(await verdict(reader, mine, action)).toEqual([403, 'SCOPE_MISSING', undefined]);
    expect(await verdict(elsewhere, mine, action)).toEqual([403, 'FORBIDDEN', 'sender']);
    expect(await verdict(key, others, action)).toEqual([403, 'FORBIDDEN', 'recipient']);
    expect(await verdict(key, mine, action)).toBe(action === 'cancel' ? 'CANCELLED' : 'PENDING');
  }
  expect((await api.call(project.secretKey, 'GET', others)).body.status).toBe('PENDING');
});
