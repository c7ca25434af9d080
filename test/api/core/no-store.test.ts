import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aPerson, joins, type Person } from '../../support/people.ts';

let database: TestDatabase;
let api: TestApi;
let project: TestProject;
let admin: Person;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
  project = await aProject(database);
  admin = await aPerson(database.db, api.config, { name: 'ada.lind', signsIn: true });
  await joins(database.db, project.id, admin, 'ADMIN');
});
afterAll(async () => {
  await api?.close();
  await database?.close();
});

test('no cache keeps an answer that shows keys, makes a session or holds data of people', async () => {
  const session = { ...admin.session, 'X-Project-Id': project.id };
  const own = `/users/@me/projects/${project.id}`;
  const found: Record<string, string | null> = {};
  for (const [method, path, body] of [
    ['GET', '/users/@me/projects'],
    ['POST', '/users/@me/projects', { name: 'Another' }],
    ['PATCH', own, { name: 'Renamed' }],
    ['POST', `${own}/regenerate-keys`, {}],
    ['GET', '/users/@me'],
    ['POST', '/auth/login', { email: admin.email, password: admin.password }],
    ['POST', '/auth/signup', { email: 'new@harbourmail.test', password: 'long enough' }],
    ['GET', '/contacts'],
    ['GET', `/projects/${project.id}/members`],
    ['GET', '/workflows'],
  ] as const) {
    const answer = await api.call(null, method, path, body, session);
    expect(answer.status, path).toBeLessThan(300);
    found[`${method} ${path}`] = answer.headers.get('cache-control');
  }
  expect(Object.entries(found).filter(([, control]) => control !== 'no-store')).toEqual([]);
  const refused = await api.call('sk_wrong', 'GET', '/contacts');
  expect(refused).toMatchObject({ status: 401 });
  expect(refused.headers.get('cache-control')).toBe('no-store');
});

test('what everybody may keep is kept', async () => {
  expect((await api.call(null, 'GET', '/config')).headers.get('cache-control')).toBe('public, max-age=60');
});
