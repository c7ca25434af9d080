import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../../src/lib/ids.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aPerson, joins, type Person, sessionOf } from '../../support/people.ts';

let database: TestDatabase;
let api: TestApi;
let project: TestProject;
let owner: Person;
let admin: Person;
let member: Person;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
  [owner, admin, member] = await Promise.all([
    aPerson(database.db, api.config, { name: 'olga.berg' }),
    aPerson(database.db, api.config, { name: 'adam.lund' }),
    aPerson(database.db, api.config, { name: 'maja.nord' }),
  ]);
  project = await aProject(database, 'Northern Light');
  await database.db.count('update memberships set user_id = $2 where project_id = $1', [project.id, owner.id]);
  await joins(database.db, project.id, admin, 'ADMIN');
  await joins(database.db, project.id, member, 'MEMBER');
});

afterAll(async () => {
  await api?.close();
  await database?.close();
});

const as = (person: Person, method: string, path: string, body?: unknown) =>
  api.call(null, method, path, body, person.session);

describe('projects', () => {
  test('are created by any user, who owns them, and are listed with keys and role, oldest membership first', async () => {
    const founder = await aPerson(database.db, api.config, { name: 'freya.holm' });
    const created = await as(founder, 'POST', '/users/@me/projects', { name: '  Harbour News ' });
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      id: expect.any(String),
      name: 'Harbour News',
      public: expect.stringMatching(/^pk_[0-9a-f]{64}$/),
      secret: expect.stringMatching(/^sk_[0-9a-f]{64}$/),
      disabled: false,
      disabledReason: null,
      customer: null,
      subscription: null,
      billingLimitWorkflows: null,
      billingLimitCampaigns: null,
      billingLimitTransactional: null,
      billingLimitInbound: null,
      tracking: 'ENABLED',
      language: 'en',
      timeZone: null,
      quietHours: null,
      emailRetentionDays: null,
      eventRetentionDays: null,
      executionRetentionDays: null,
      escapeContactData: true,
      hideSecretKey: false,
      approvalAbove: null,
      testAddresses: [],
      publicKeyMode: 'contract',
      publicKeyRequestsPerMinute: 600,
      createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      updatedAt: expect.any(String),
    });
    await joins(database.db, project.id, founder, 'MEMBER');
    const listed = await as(founder, 'GET', '/users/@me/projects');
    expect(listed.body).toMatchObject([
      { ...created.body, role: 'OWNER' },
      { id: project.id, role: 'MEMBER', secret: project.secretKey },
    ]);
    expect((await api.call(created.body.secret, 'GET', '/contacts')).status).toBe(200);
    const own = await api.call(created.body.secret, 'GET', '/users/@me/projects');
    expect(own.body).toMatchObject([{ id: created.body.id, role: 'ADMIN' }]);
    expect((await as(owner, 'DELETE', `/projects/${project.id}/members/${founder.id}`)).status).toBe(200);
  });

  test('are not created without a name, by a key, or by a member of a disabled one', async () => {
    for (const name of [undefined, '', '   ', 'x'.repeat(101)])
      expect((await as(owner, 'POST', '/users/@me/projects', { name })).status).toBe(422);
    expect(await api.call(project.secretKey, 'POST', '/users/@me/projects', { name: 'Planted' })).toMatchObject({
      status: 403,
      body: { error: { code: 'FORBIDDEN' } },
    });
    const stuck = await aPerson(database.db, api.config);
    const paused = await aProject(database, 'Paused');
    await joins(database.db, paused.id, stuck, 'MEMBER');
    await database.db.count('update projects set disabled = true where id = $1', [paused.id]);
    expect(await as(stuck, 'POST', '/users/@me/projects', { name: 'Fresh start' })).toMatchObject({
      status: 403,
      body: { error: { code: 'PROJECT_DISABLED' } },
    });
    const planted = await database.db.row<{ n: number }>(
      `select count(*)::int as n from projects where name in ('Planted', 'Fresh start')`,
    );
    expect(planted?.n).toBe(0);
  });

  test('are created up to a limit for each owner', async () => {
    await using limited = await testApi(database, { PROJECTS_PER_OWNER: '2' });
    const founder = await aPerson(database.db, limited.config, { name: 'many.projects' });
    const headers = await sessionOf(limited.config, founder.id);
    const create = () => limited.call(null, 'POST', '/users/@me/projects', { name: 'Another' }, headers);
    const statuses = (await Promise.all([create(), create(), create()])).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([201, 201, 403]);
    expect((await create()).body.error).toMatchObject({
      code: 'FORBIDDEN',
      details: { limit: 'PROJECTS_PER_OWNER', owned: 2, most: 2 },
    });
  });

  test('are changed by admins and by their key, field by field', async () => {
    const path = `/users/@me/projects/${project.id}`;
    const changed = await as(admin, 'PATCH', path, { tracking: 'MARKETING_ONLY', language: 'pt-BR', id: newId() });
    expect(changed).toMatchObject({
      status: 200,
      body: { id: project.id, name: 'Northern Light', tracking: 'MARKETING_ONLY', language: 'pt-BR' },
    });
    expect((await api.call(project.secretKey, 'PATCH', path, { name: 'Northern Lights' })).body.name).toBe(
      'Northern Lights',
    );
    expect((await as(member, 'PATCH', path, { name: 'Mine' })).status).toBe(403);
    for (const body of [{ tracking: 'SOMETIMES' }, { language: 'English' }, { name: '' }])
      expect((await as(admin, 'PATCH', path, body)).status).toBe(422);
    expect((await as(admin, 'PATCH', path, { timeZone: 'Europe/Berlin' })).body.timeZone).toBe('Europe/Berlin');
    for (const timeZone of ['Middle/Earth', '+02:00', '', 7, 'x'.repeat(101)])
      expect(await as(admin, 'PATCH', path, { timeZone })).toMatchObject({
        status: 422,
        body: { error: { errors: [{ field: 'timeZone' }] } },
      });
    expect((await as(admin, 'PATCH', path, { name: 'Northern Lights' })).body.timeZone).toBe('Europe/Berlin');
    expect((await as(admin, 'PATCH', path, { timeZone: null })).body.timeZone).toBe(null);
    const night = { from: '22:00', to: '08:00', days: null, types: ['MARKETING'] };
    expect((await as(admin, 'PATCH', path, { quietHours: { from: '22:00', to: '08:00' } })).body.quietHours).toEqual(
      night,
    );
    for (const [quietHours, field] of [
      ['22:00', 'quietHours'],
      [{ from: '22:00' }, 'quietHours.to'],
      [{ from: '08:00', to: '08:00' }, 'quietHours.to'],
      [{ ...night, days: [8] }, 'quietHours.days.0'],
      [{ ...night, types: ['TRANSACTIONAL'] }, 'quietHours.types.0'],
    ])
      expect(await as(admin, 'PATCH', path, { quietHours })).toMatchObject({
        status: 422,
        body: { error: { errors: [{ field }] } },
      });
    expect((await as(admin, 'PATCH', path, { name: 'Northern Lights' })).body.quietHours).toEqual(night);
    expect((await as(admin, 'PATCH', path, { quietHours: null })).body.quietHours).toBe(null);
    // What waits is asked again after a change, and after none.
    const asksAgain = async (change: object) => {
      await database.db.count('update projects set quiet_changed_at = null where id = $1', [project.id]);
      await as(admin, 'PATCH', path, change);
      return database.db.count('select from projects where id = $1 and quiet_changed_at is not null', [project.id]);
    };
    expect(await asksAgain({ quietHours: { from: '22:00', to: '08:00' } })).toBe(1);
    expect(await asksAgain({ quietHours: night, name: 'Northern Lights' })).toBe(0);
    expect(await asksAgain({ quietHours: { ...night, to: '09:00' } })).toBe(1);
    expect(await asksAgain({ timeZone: 'Asia/Tokyo' })).toBe(1);
    expect(await asksAgain({ timeZone: 'Asia/Tokyo' })).toBe(0);
    expect(await asksAgain({ timeZone: null, quietHours: null })).toBe(1);
    expect((await as(admin, 'PATCH', path, { emailRetentionDays: 365 })).body.emailRetentionDays).toBe(365);
    // What CONTACT_HISTORY_DAYS needs, 90 days here, is kept.
    for (const field of ['emailRetentionDays', 'eventRetentionDays', 'executionRetentionDays'])
      for (const days of [60, 100, '90', -1])
        expect(await as(admin, 'PATCH', path, { [field]: days })).toMatchObject({
          status: 422,
          body: { error: { errors: [{ field }] } },
        });
    expect((await as(admin, 'PATCH', path, { emailRetentionDays: null, eventRetentionDays: 90 })).body).toMatchObject({
      emailRetentionDays: null,
      eventRetentionDays: 90,
    });
    expect((await as(admin, 'PATCH', path, { escapeContactData: false })).body.escapeContactData).toBe(false);
    expect((await as(admin, 'PATCH', path, {})).body).toMatchObject({ name: 'Northern Lights', language: 'pt-BR' });
  });

  test('lists test addresses, which an admin sets', async () => {
    const tested = await aProject(database, 'Seeds');
    await joins(database.db, tested.id, admin, 'ADMIN');
    await joins(database.db, tested.id, member, 'MEMBER');
    const path = `/users/@me/projects/${tested.id}`;
    const set = (person: Person, testAddresses: unknown) => as(person, 'PATCH', path, { testAddresses });
    expect((await set(member, ['seed@example.com'])).status).toBe(403);
    const kept = await set(admin, [' Seed@Example.com', 'seed@example.com', 'qa@example.com']);
    expect(kept).toMatchObject({ status: 200, body: { testAddresses: ['seed@example.com', 'qa@example.com'] } });
    expect((await set(admin, ['nobody'])).body.error.errors[0].field).toBe('testAddresses.0');
    const many = Array.from({ length: 21 }, (_, n) => `seed${n}@example.com`);
    expect((await set(admin, many)).body.error.errors[0]).toMatchObject({ field: 'testAddresses', code: 'too_big' });
    expect((await set(admin, [])).body.testAddresses).toEqual([]);
  });

  test('may hide the secret key from members, who see it by default', async () => {
    const hiding = await aProject(database, 'Hush');
    for (const [person, role] of [
      [admin, 'ADMIN'],
      [member, 'MEMBER'],
    ] as const)
      await joins(database.db, hiding.id, person, role);
    const path = `/users/@me/projects/${hiding.id}`;
    const seen = async (person: Person) =>
      (await as(person, 'GET', '/users/@me/projects')).body.find(({ id }: { id: string }) => id === hiding.id);
    expect(await seen(member)).toMatchObject({ hideSecretKey: false, secret: hiding.secretKey });
    expect((await as(member, 'PATCH', path, { hideSecretKey: true })).status).toBe(403);
    expect((await as(admin, 'PATCH', path, { hideSecretKey: 'yes' })).status).toBe(422);
    const hidden = await as(admin, 'PATCH', path, { hideSecretKey: true });
    expect(hidden).toMatchObject({ status: 200, body: { hideSecretKey: true, secret: hiding.secretKey } });
    expect(await seen(member)).toMatchObject({ hideSecretKey: true, secret: null, public: hiding.publicKey });
    expect(await seen(admin)).toMatchObject({ secret: hiding.secretKey, role: 'ADMIN' });
    const own = await api.call(hiding.secretKey, 'GET', '/users/@me/projects');
    expect(own.body).toMatchObject([{ secret: hiding.secretKey }]);
    expect((await as(member, 'PATCH', path, { hideSecretKey: false })).status).toBe(403);
    await as(admin, 'PATCH', path, { name: 'Hushed' });
    expect(await seen(member)).toMatchObject({ name: 'Hushed', secret: null });
    // Every answer to a member, whatever it is of.
    for (const told of ['/projects', `/projects/${hiding.id}`, `/projects/${hiding.id}/members`])
      expect(JSON.stringify((await as(member, 'GET', told)).body)).not.toContain(hiding.secretKey);
  });

  test('have a short form for agents', async () => {
    const summary = { id: project.id, name: 'Northern Lights', defaultSenderDomain: project.domain };
    expect((await api.call(project.secretKey, 'GET', '/projects')).body).toMatchObject({
      success: true,
      data: summary,
    });
    expect((await as(owner, 'GET', '/projects')).body).toMatchObject({ success: true, data: [summary] });
    expect((await as(member, 'GET', `/projects/${project.id}`)).body).toMatchObject({ success: true, data: summary });
    const other = await aProject(database, 'Elsewhere');
    expect((await as(member, 'GET', `/projects/${other.id}`)).status).toBe(404);
    expect((await as(member, 'GET', '/projects/none')).status).toBe(404);
    expect(await api.call(project.secretKey, 'GET', `/projects/${other.id}`)).toMatchObject({
      status: 403,
      body: { error: { code: 'PROJECT_ACCESS_DENIED' } },
    });
  });
});

describe('keys', () => {
  test('are replaced as a pair, and the old ones are refused by the very next request to every process', async () => {
    const others = await Promise.all([testApi(database), testApi(database)]);
    try {
      const processes = [api, ...others];
      const rotating = await aProject(database, 'Rotating');
      await joins(database.db, rotating.id, admin, 'ADMIN');
      let { publicKey, secretKey } = rotating;
      for (let round = 0; round < 5; round++) {
        for (const one of processes) expect((await one.call(secretKey, 'GET', '/contacts')).status).toBe(200);
        const rotated = await as(admin, 'POST', `/users/@me/projects/${rotating.id}/regenerate-keys`);
        expect(rotated.status).toBe(200);
        expect(Object.keys(rotated.body).sort()).toEqual(
          'createdAt customer disabled id name public secret subscription updatedAt'.split(' '),
        );
        const old = await Promise.all(
          processes.flatMap((one) => [
            one.call(secretKey, 'GET', '/contacts'),
            one.call(publicKey, 'POST', '/v1/track', { event: 'seen', email: 'kit.sole@example.org' }),
          ]),
        );
        expect(old.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 401]);
        ({ public: publicKey, secret: secretKey } = rotated.body);
        for (const one of processes) {
          expect((await one.call(secretKey, 'GET', '/contacts')).status).toBe(200);
          const tracked = await one.call(publicKey, 'POST', '/v1/track', { event: 'seen', email: 'kit@example.org' });
          expect(tracked.status).toBe(200);
        }
      }
    } finally {
      await Promise.all(others.map((one) => one.close()));
    }
  });

  test('may be replaced in a disabled project by a session, not by the key', async () => {
    const paused = await aProject(database, 'Leaked');
    await joins(database.db, paused.id, admin, 'ADMIN');
    await database.db.count('update projects set disabled = true where id = $1', [paused.id]);
    const path = `/users/@me/projects/${paused.id}/regenerate-keys`;
    expect(await api.call(paused.secretKey, 'POST', path)).toMatchObject({
      status: 403,
      body: { error: { code: 'PROJECT_DISABLED' } },
    });
    expect((await as(admin, 'POST', path)).status).toBe(200);
  });
});

describe('members', () => {
  const path = (id = '') => `/projects/${project.id}/members${id && `/${id}`}`;

  test('are listed in the order in which they joined', async () => {
    const listed = await as(member, 'GET', path());
    expect(listed.body).toEqual({
      success: true,
      data: [
        { userId: owner.id, email: owner.email, role: 'OWNER', createdAt: expect.any(String) },
        { userId: admin.id, email: admin.email, role: 'ADMIN', createdAt: expect.any(String) },
        { userId: member.id, email: member.email, role: 'MEMBER', createdAt: expect.any(String) },
      ],
    });
  });

  test('are added by address, changed and removed by admins', async () => {
    const guest = await aPerson(database.db, api.config, { name: 'rosa.keel' });
    const added = await as(admin, 'POST', path(), { email: guest.email.toUpperCase() });
    expect(added).toMatchObject({
      status: 200,
      body: { success: true, data: { userId: guest.id, email: guest.email, role: 'MEMBER' } },
    });
    expect(await as(owner, 'POST', path(), { email: guest.email })).toMatchObject({
      status: 409,
      body: { error: { code: 'CONFLICT' } },
    });
    expect((await as(guest, 'POST', path(), { email: 'x@harbourmail.test' })).status).toBe(403);
    expect((await as(admin, 'PATCH', path(guest.id), { role: 'ADMIN' })).body.data.role).toBe('ADMIN');
    expect((await as(guest, 'PATCH', path(member.id), { role: 'ADMIN' })).status).toBe(200);
    expect((await as(guest, 'PATCH', path(member.id), { role: 'MEMBER' })).status).toBe(200);
    expect((await as(admin, 'DELETE', path(guest.id))).body.success).toBe(true);
    expect((await as(guest, 'GET', path())).status).toBe(404);
  });

  test('are told by a 400 what is wrong with the request, by a 404 who is missing', async () => {
    for (const body of [
      {},
      { email: 'nobody' },
      { email: member.email, role: 'OWNER' },
      { email: member.email, role: 1 },
    ])
      expect(await as(admin, 'POST', path(), body)).toMatchObject({
        status: 400,
        body: { error: { code: 'BAD_REQUEST' } },
      });
    expect((await as(admin, 'PATCH', path(member.id), { role: 'OWNER' })).status).toBe(400);
    expect((await as(admin, 'POST', path(), { email: 'no.account@harbourmail.test' })).status).toBe(404);
    for (const id of [newId(), 'none']) {
      expect((await as(admin, 'PATCH', path(id), { role: 'MEMBER' })).status).toBe(404);
      expect((await as(admin, 'DELETE', path(id))).status).toBe(404);
    }
  });

  test('never lose the owner: nobody changes or removes them, and they cannot leave', async () => {
    for (const person of [admin, owner]) {
      expect((await as(person, 'PATCH', path(owner.id), { role: 'MEMBER' })).status).toBe(403);
      expect((await as(person, 'DELETE', path(owner.id))).status).toBe(403);
    }
    expect((await as(admin, 'DELETE', path(admin.id))).status).toBe(403);
    expect((await as(member, 'GET', path())).body.data).toHaveLength(3);
  });

  test('cannot be planted, changed or removed by a key', async () => {
    const guest = await aPerson(database.db, api.config);
    for (const [method, target, body] of [
      ['POST', path(), { email: guest.email, role: 'ADMIN' }],
      ['PATCH', path(member.id), { role: 'ADMIN' }],
      ['DELETE', path(member.id), undefined],
    ] as const)
      expect(await api.call(project.secretKey, method, target, body)).toMatchObject({
        status: 403,
        body: { error: { code: 'FORBIDDEN' } },
      });
    expect((await api.call(project.secretKey, 'GET', path())).body.data).toHaveLength(3);
  });
});
