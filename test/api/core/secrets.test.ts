import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { queueSystemMails } from '../../../src/accounts/system-mail/service.ts';
import { signingKey } from '../../../src/domains/queries.ts';
import { readConfig } from '../../../src/lib/config/config.ts';
import { seal, unseal } from '../../../src/lib/seal.ts';
import { sealedColumns } from '../../../src/main/projects/sealed-queries.ts';
import { projectRecord } from '../../../src/projects/queries.ts';
import { linkToken } from '../../../src/templates/content/links.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aPerson, joins, type Person } from '../../support/people.ts';

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

interface Ended {
  status: number;
  said: string;
}

/** Runs one of our programs with these settings and no others. */
function program(file: string, args: string[], settings: Record<string, string>): Promise<Ended> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, DATA_DIR: '/nowhere', DATABASE_URL: database.url, ...settings };
  const path = join(import.meta.dirname, '../../../src/main', file);
  return new Promise((resolve) => {
    execFile(process.execPath, [path, ...args], { env }, (error, stdout, stderr) =>
      resolve({ status: error === null ? 0 : Number(error.code), said: stdout + stderr }),
    );
  });
}

test('stored keys are encrypted with the current key by a command, after which the previous one may go', async () => {
  const both = { ...rotated, JWT_SECRET_PREVIOUS: old.JWT_SECRET };
  // Mail that waits and a DKIM key of our own, besides the keys of projects.
  const config = readConfig(old);
  await database.db.count(`update domains set dkim_key_sealed = $2 where project_id = $1`, [
    project.id,
    seal('a private key', config.APP_ENCRYPTION_KEY),
  ]);
  const [ticket] = await queueSystemMails(database.db, config, [
    { kind: 'reset-password', to: 'ida@example.org', language: 'en', link: 'https://mail.example.org/' },
  ]);
  const mailId = ticket?.workflowId.replace('system-mail/', '');
  const before = await program('secrets.ts', ['check'], both);
  expect(before.status).toBe(1);
  expect(before.said).toMatch(/secret keys of projects: \d+ with the current key, \d+ with a previous key\n/);
  expect(await program('secrets.ts', ['reencrypt'], both)).toMatchObject({ status: 0 });
  // Nothing is left to do, and the previous secret is not needed any more.
  for (const settings of [both, rotated]) {
    const after = await program('secrets.ts', ['check'], settings);
    expect(after.status).toBe(0);
    expect(after.said).not.toContain('previous');
  }
  const keys = readConfig(rotated).encryptionKeys;
  expect((await projectRecord(database.db, project.id, keys))?.secret).toBe(project.secretKey);
  expect((await signingKey(database.db, keys, project.domain))?.privateKey).toBe('a private key');
  const mail = await database.db.row<{ sealed: string }>(
    'select content_sealed as sealed from system_mails where id = $1',
    [mailId],
  );
  expect(unseal(mail?.sealed ?? '', keys)).toContain('https://mail.example.org/');
});

test('what no key decrypts is counted and left as it is', async () => {
  const other = { JWT_SECRET: 'a secret that was never in use, long enough' };
  const sealed = () => database.db.rows('select id, secret_key_sealed, public_key_sealed from projects order by id');
  const before = await sealed();
  const ended = await program('secrets.ts', ['reencrypt'], other);
  expect(ended.status).toBe(1);
  expect(ended.said).toMatch(/secret keys of projects: 0 with the current key, \d+ that no key decrypts\n/);
  expect(await sealed()).toEqual(before);
  expect((await program('secrets.ts', ['show'], other)).status).toBe(2);
});

test('every column that is sealed is one that the command knows', async () => {
  const rows = await database.db.rows<{ name: string }>(
    `select table_name || '.' || column_name as name from information_schema.columns
     where table_schema = 'public' and column_name ~ 'sealed' order by 1`,
  );
  expect(rows.map(({ name }) => name)).toEqual(sealedColumns.map(({ table, column }) => `${table}.${column}`).sort());
});
