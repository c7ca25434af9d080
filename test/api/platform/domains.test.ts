import { createSandbox, type Sandbox } from '@fernpost/mail-sandbox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aPerson, joins } from '../../support/people.ts';

let database: TestDatabase;
let sandbox: Sandbox;
let api: TestApi;
let project: TestProject;

beforeAll(async () => {
  database = await testDatabase();
  sandbox = await createSandbox({
    host: '127.0.0.1',
    port: 0,
    dataDir: null,
    webhookUrl: null,
    webhookUser: '',
    webhookPassword: '',
    delayMs: 0,
  });
  api = await testApi(database, { POSTMARK_API_URL: sandbox.url });
  project = await aProject(database);
});
afterAll(async () => {
  await api.close();
  await sandbox.close();
  await database.close();
});

const add = (domain: unknown, owner = project) => api.call(owner.secretKey, 'POST', '/domains', { domain });

describe('sender domains', () => {
  test('one below .test verifies at once in the sandbox and may send', async () => {
    const answer = await add(' News.Acme.TEST. ');
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      domain: 'news.acme.test',
      verified: true,
      status: 'Success',
      project: { name: 'Acme' },
    });
    expect(answer.body.records.map((record: { purpose: string }) => record.purpose)).toEqual([
      'DKIM',
      'RETURN_PATH',
      'DMARC',
    ]);
    expect(answer.body.records[0]).toMatchObject({ type: 'TXT', required: true, value: expect.stringContaining('p=') });
    await expect
      .poll(async () => {
        const sent = await api.call(project.secretKey, 'POST', '/v1/send', {
          to: 'a@example.com',
          from: 'hi@news.acme.test',
          subject: 's',
          body: 'b',
        });
        return sent.status;
      })
      .toBe(200);
  });

  test('any other waits for its records until it is checked', async () => {
    const { body: domain } = await add('acme-shop.example');
    expect(domain).toMatchObject({ verified: false, status: 'Pending' });
    const checked = await api.call(project.secretKey, 'GET', `/domains/${domain.id}/verify`);
    expect(checked.body).toMatchObject({
      domain: 'acme-shop.example',
      status: 'Success',
      verified: true,
      tokens: domain.dkimTokens,
    });
    const listed = await api.call(project.secretKey, 'GET', `/domains/project/${project.id}`);
    expect(listed.body.map((item: { domain: string }) => item.domain)).toContain('acme-shop.example');
  });

  test('one that is in use is kept, and one that is free is removed', async () => {
    const { body: domain } = await add('kept.acme.test');
    const template = { name: 'n', subject: 's', body: 'b', from: 'hi@kept.acme.test' };
    await expect.poll(async () => (await api.call(project.secretKey, 'POST', '/templates', template)).status).toBe(201);
    expect((await api.call(project.secretKey, 'DELETE', `/domains/${domain.id}`)).body.error.code).toBe('CONFLICT');
    const { body: free } = await add('free.acme.test');
    expect((await api.call(project.secretKey, 'DELETE', `/domains/${free.id}`)).body).toEqual({ success: true });
    expect((await add('free.acme.test')).status).toBe(201);
  });
});

describe('refusals', () => {
  test.each(['', 'localhost', 'a..test', '-a.test', 'ex ample.test', 'co.uk', `${'a'.repeat(64)}.test`, 5])(
    '%s is no domain',
    async (domain) => {
      expect((await add(domain)).status).toBe(422);
    },
  );

  test('a name that is taken says so, and never whose it is', async () => {
    await add('taken.acme.test');
    const again = await add('taken.acme.test');
    expect([again.status, Object.keys(again.body)]).toEqual([400, ['error']]);
    const other = await aProject(database, 'Rival');
    const refused = await add('taken.acme.test', other);
    expect([refused.status, Object.keys(refused.body)]).toEqual([403, ['error']]);
    expect(refused.body.error).not.toContain('Acme');
  });

  test('a name that another project of the same person has names that project to them, and to no key', async () => {
    await add('shared.acme.test');
    const second = await aProject(database, 'Second');
    const person = await aPerson(database.db, api.config);
    await joins(database.db, project.id, person, 'MEMBER');
    await joins(database.db, second.id, person, 'ADMIN');
    const session = { ...person.session, 'X-Project-Id': second.id };
    const told = await api.call(null, 'POST', '/domains', { domain: 'shared.acme.test' }, session);
    expect([told.status, told.body]).toEqual([400, { error: expect.stringContaining('"Acme"') }]);
    const byKey = await add('shared.acme.test', second);
    expect([byKey.status, JSON.stringify(byKey.body).includes('Acme')]).toEqual([403, false]);
    const stranger = await aPerson(database.db, api.config);
    await joins(database.db, second.id, stranger, 'ADMIN');
    const refused = await api.call(
      null,
      'POST',
      '/domains',
      { domain: 'shared.acme.test' },
      {
        ...stranger.session,
        'X-Project-Id': second.id,
      },
    );
    expect([refused.status, JSON.stringify(refused.body).includes('Acme')]).toEqual([403, false]);
  });

  test('nobody goes on below the domain of a disabled project', async () => {
    const paused = await aProject(database, 'Paused');
    expect((await add('spam-books.example', paused)).status).toBe(201);
    await database.db.count('update projects set disabled = true where id = $1', [paused.id]);
    const { status, body } = await add('news.spam-books.example');
    expect([status, body.error.code]).toEqual([403, 'FORBIDDEN']);
  });

  test('two projects that add one name at the same moment: one has it', async () => {
    const rivals = await Promise.all([aProject(database), aProject(database)]);
    const answers = await Promise.all(rivals.map((rival) => add('race.acme.test', rival)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 403]);
  });

  test('a domain of another project does not exist', async () => {
    const { body: domain } = await add('mine.acme.test');
    const other = await aProject(database);
    expect((await api.call(other.secretKey, 'GET', `/domains/${domain.id}/verify`)).status).toBe(404);
    expect((await api.call(other.secretKey, 'DELETE', `/domains/${domain.id}`)).status).toBe(404);
    expect((await api.call(other.secretKey, 'GET', `/domains/project/${project.id}`)).body.error.code).toBe(
      'PROJECT_ACCESS_DENIED',
    );
    const foreign = await api.call(other.secretKey, 'POST', '/domains', {
      domain: 'x.acme.test',
      projectId: project.id,
    });
    expect(foreign.body.error.code).toBe('PROJECT_ACCESS_DENIED');
  });

  test('without the provider nothing is registered and nothing is left behind', async () => {
    await using alone = await testApi(database, { POSTMARK_API_URL: 'http://127.0.0.1:9' });
    const answer = await alone.call(project.secretKey, 'POST', '/domains', { domain: 'later.acme.test' });
    expect([answer.status, answer.body.error.code]).toEqual([503, 'EXTERNAL_SERVICE_ERROR']);
    expect((await add('later.acme.test')).status).toBe(201);
  });
});
