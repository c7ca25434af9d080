import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConfig } from '../../../src/lib/config/config.ts';
import { createFirstProject } from '../../../src/main/projects/first-project.ts';
import { type TestApi, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { cookieOf } from '../../support/people.ts';

let database: TestDatabase;
let api: TestApi;
beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
});
afterAll(async () => {
  await api?.close();
  await database?.close();
});

test('the login of the first project signs its owner in, also where addresses must be confirmed', async () => {
  const made = await createFirstProject(readConfig({ DATABASE_URL: database.url }));
  if (made === null) throw new Error('No project was made');
  const strict = await testApi(database, { REQUIRE_EMAIL_VERIFICATION: 'true' });
  try {
    const login = await strict.call(null, 'POST', '/auth/login', made.login);
    expect(login).toMatchObject({ status: 200, body: { success: true, data: { email: made.login.email } } });
    const session = cookieOf(login.headers) ?? {};
    const projects = await strict.call(null, 'GET', '/users/@me/projects', undefined, session);
    expect(projects.body).toMatchObject([
      { id: made.projectId, role: 'OWNER', public: made.publicKey, secret: made.secretKey },
    ]);
    const named = { ...session, 'X-Project-Id': made.projectId };
    expect((await strict.call(null, 'GET', '/contacts', undefined, named)).status).toBe(200);
  } finally {
    await strict.close();
  }
});
