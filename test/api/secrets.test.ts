import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { linkToken } from '../../src/delivery/content/links.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../support/api.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aPerson, joins, type Person } from '../support/people.ts';

const old = { JWT_SECRET: 'the first secret of this deployment, long enough' };
const rotated = { JWT_SECRET: 'the second secret of this deployment, as long' };

let database: TestDatabase;
let project: TestProject;
let owner: Person;
let contactId: string;

beforeAll(async () => {
  database = await testDatabase();
  const config = readConfig(old);
  project = await aProject(database, 'Lighthouse', config.APP_ENCRYPTION_KEY);
  owner = await aPerson(database.db, config, { name: 'jorun.vik', signsIn: true });
  await joins(database.db, project.id, owner, 'ADMIN');
  await withApi(old, async (api) => {
    contactId = (await api.call(project.secretKey, 'POST', '/contacts', { email: 'ida@example.org' })).body.id;
  });
});
afterAll(() => database?.close());

async function withApi<T>(settings: Record<string, string>, work: (api: TestApi) => Promise<T>): Promise<T> {
  const api = await testApi(database, settings);
  try {
    return await work(api);
  } finally {
    await api.close();
  }
}

const projectsOf = (api: TestApi, session: Record<string, string>) =>
  api.call(null, 'GET', '/users/@me/projects', undefined, session);
const address = async (api: TestApi) => {
  const t = linkToken(contactId, readConfig(old).LINK_SECRET);
  return (await api.call(null, 'GET', `/contacts/public/${contactId}?t=${t}`)).body.email;
};

test('a changed JWT_SECRET loses sessions, the sight of keys and old links, and nothing fails', async () => {
  await withApi(rotated, async (api) => {
    expect((await projectsOf(api, owner.session)).status).toBe(401);
    const login = await api.call(null, 'POST', '/auth/login', { email: owner.email, password: owner.password });
    const session = { Cookie: login.headers.getSetCookie()[0]?.split(';')[0] ?? '' };
    expect(await projectsOf(api, session)).toMatchObject({
      status: 200,
      body: [{ id: project.id, public: null, secret: null, role: 'ADMIN' }],
    });
    // The keys are found by their hash, so they work; what else reads the record does too.
    expect(await api.call(project.secretKey, 'GET', '/users/@me/projects')).toMatchObject({
      status: 200,
      body: [{ id: project.id, secret: null }],
    });
    const path = `/users/@me/projects/${project.id}`;
    expect((await api.call(null, 'PATCH', path, { name: 'Lighthouse' }, session)).status).toBe(200);
    expect((await api.call(null, 'POST', '/users/@me/projects', { name: 'Pier' }, session)).body.secret).toMatch(
      /^sk_/,
    );
    expect(await address(api)).toBe('i…@example.org');
  });
});

test('JWT_SECRET_PREVIOUS carries sessions, derived keys and links over', async () => {
  await withApi({ ...rotated, JWT_SECRET_PREVIOUS: old.JWT_SECRET }, async (api) => {
    const listed = await projectsOf(api, owner.session);
    expect(listed.status).toBe(200);
    expect(listed.body.find(({ id }: { id: string }) => id === project.id)).toMatchObject({
      public: project.publicKey,
      secret: project.secretKey,
    });
    expect(await address(api)).toBe('ida@example.org');
    // New sessions are of the new secret, and signing out works for those of the old one.
    const login = await api.call(null, 'POST', '/auth/login', { email: owner.email, password: owner.password });
    const session = { Cookie: login.headers.getSetCookie()[0]?.split(';')[0] ?? '' };
    await withApi(rotated, async (later) => expect((await projectsOf(later, session)).status).toBe(200));
    const other = await aPerson(database.db, readConfig(old));
    await api.call(null, 'GET', '/auth/logout', undefined, other.session);
    expect((await projectsOf(api, other.session)).status).toBe(401);
  });
});

test('keys and links that are set by themselves are rotated by themselves', async () => {
  const config = readConfig(old);
  await withApi(
    {
      ...rotated,
      APP_ENCRYPTION_KEY: 'another key to encrypt with, long enough',
      APP_ENCRYPTION_KEY_PREVIOUS: config.APP_ENCRYPTION_KEY,
      LINK_SECRET: 'another secret to sign links, long enough',
      LINK_SECRET_PREVIOUS: config.LINK_SECRET,
    },
    async (api) => {
      expect((await api.call(project.secretKey, 'GET', '/users/@me/projects')).body[0].secret).toBe(project.secretKey);
      expect(await address(api)).toBe('ida@example.org');
      expect((await projectsOf(api, owner.session)).status).toBe(401);
    },
  );
});
