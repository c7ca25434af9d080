import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { FakeMailer } from '../../support/mailer.ts';
import { aPerson, joins } from '../../support/people.ts';

let database: TestDatabase;
let api: TestApi;
let mailer: FakeMailer;
let project: TestProject;
let member: string;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  mailer = new FakeMailer();
  api = await testApi(database, {}, { mailer });
  project = await aProject(database);
  const row = await database.db.row<{ email: string }>(
    'select u.email from users u join memberships m on m.user_id = u.id where m.project_id = $1',
    [project.id],
  );
  member = row?.email ?? '';
  return () => api.close();
});

const call = (method: string, path: string, body?: unknown) => api.call(project.secretKey, method, path, body);
async function created(changes: object = {}): Promise<string> {
  const answer = await call('POST', '/campaigns', {
    name: 'Spring sale',
    subject: 'Hi {{firstName ?? there}}',
    body: '<html><body><p>Dear {{firstName ?? reader}}, everything must go.</p></body></html>',
    from: project.sender,
    audienceType: 'ALL',
    ...changes,
  });
  return answer.body.data.id;
}
const testSend = (id: string, body: object) => call('POST', `/campaigns/${id}/test`, body);

test('a test reaches a member of the project, marked as one, without footer, tracking and List-Unsubscribe', async () => {
  const id = await created({ fromName: 'Acme shop', replyTo: 'help@example.com' });
  await call('POST', '/contacts', { email: member, data: { firstName: 'Ada' } });
  const answer = await testSend(id, { email: member.toUpperCase() });
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({ success: true, message: expect.any(String) });
  expect(mailer.sent).toHaveLength(1);
  expect(mailer.sent[0]).toMatchObject({
    subject: '[TEST] Hi Ada',
    to: { address: member },
    from: { address: project.sender, name: 'Acme shop' },
    replyTo: 'help@example.com',
    headers: [{ name: 'X-Fernpost-Test', value: 'true' }],
    tracking: false,
  });
  expect(mailer.sent[0]?.html).toContain('Dear Ada, everything must go.');
  expect(mailer.sent[0]?.html).not.toMatch(/unsubscribe/i);
});

test('without a contact of that address a test goes out as it is written', async () => {
  await testSend(await created(), { email: member });
  expect(mailer.sent[0]?.subject).toBe('[TEST] Hi {{firstName ?? there}}');
  expect(mailer.sent[0]?.html).toContain('Dear {{firstName ?? reader}}');
});

test('as sent, a test is what recipients get: filled in, with footer, headers and links that change nobody', async () => {
  const id = await created({ type: 'MARKETING' });
  const { body: ada } = await call('POST', '/contacts', { email: 'ada@example.com', data: { firstName: 'Ada' } });
  expect((await testSend(id, { email: member, asSent: true, previewContactId: ada.id })).status).toBe(200);
  expect((await testSend(id, { email: member, asSent: true })).status).toBe(200);
  const [forAda, forNobody] = mailer.sent;
  expect(forAda).toMatchObject({ subject: '[TEST] Hi Ada', to: { address: member }, stream: 'broadcast' });
  expect(forAda?.html).toContain('Dear Ada, everything must go.');
  expect(forAda?.html).toContain('/unsubscribe/00000000-0000-0000-0000-000000000000?t=');
  expect(forAda?.html).not.toContain(ada.id);
  const headers = Object.fromEntries((forAda?.headers ?? []).map(({ name, value }) => [name, value]));
  expect(headers).toMatchObject({
    'List-Unsubscribe': expect.stringContaining('/unsubscribe/00000000-0000-0000-0000-000000000000'),
    Precedence: 'bulk',
    'X-Fernpost-Test': 'true',
  });
  expect(forNobody).toMatchObject({ subject: '[TEST] Hi there' });
  expect(forNobody?.html).toContain('Dear reader, everything must go.');
});

test('a contact to fill a test in for must be of the project, and a key must be allowed to read contacts', async () => {
  const id = await created();
  const { body: ada } = await call('POST', '/contacts', { email: 'ada@example.com', data: { firstName: 'Ada' } });
  expect((await testSend(id, { email: member, previewContactId: ada.id })).status).toBe(200);
  expect(mailer.sent).toMatchObject([{ subject: '[TEST] Hi Ada', stream: 'transactional' }]);
  const other = await aProject(database);
  const foreign = await api.call(other.secretKey, 'POST', '/contacts', { email: 'foreign@example.com' });
  const refused = await testSend(id, { email: member, previewContactId: foreign.body.id });
  expect([refused.status, refused.body.error.code]).toEqual([404, 'CONTACT_NOT_FOUND']);
  const admin = await aPerson(database.db, api.config, { name: 'ines.varga' });
  await joins(database.db, project.id, admin, 'ADMIN');
  const keys = `/users/@me/projects/${project.id}/api-keys`;
  const made = await api.call(null, 'POST', keys, { name: 'Tester', scopes: ['campaigns:send'] }, admin.session);
  const { key } = made.body;
  const blind = await api.call(key, 'POST', `/campaigns/${id}/test`, { email: member, previewContactId: ada.id });
  expect([blind.status, blind.body.error.code]).toEqual([403, 'SCOPE_MISSING']);
});

test('a test address of the project gets tests', async () => {
  const id = await created();
  expect((await testSend(id, { email: 'seed@example.com' })).status).toBe(403);
  await database.db.count('update projects set test_addresses = $2 where id = $1', [project.id, ['seed@example.com']]);
  expect((await testSend(id, { email: 'Seed@example.com' })).status).toBe(200);
  expect(mailer.sent).toMatchObject([{ to: { address: 'seed@example.com' } }]);
});

test('a template is tested in the same way', async () => {
  await call('POST', '/contacts', { email: member, data: { firstName: 'Ada' } });
  const variable = { type: 'variable', attrs: { name: 'firstName', fallback: 'there' } };
  const { body: template } = await call('POST', '/templates', {
    name: 'Welcome',
    subject: 'Hi {{firstName ?? there}}',
    document: { version: 1, content: [{ type: 'paragraph', content: [variable] }] },
    from: project.sender,
  });
  const path = `/templates/${template.id}/test`;
  expect((await call('POST', path, { email: member })).body.success).toBe(true);
  expect(mailer.sent).toMatchObject([{ subject: '[TEST] Hi Ada', to: { address: member }, replyTo: null }]);
  expect(mailer.sent[0]?.html).toContain('>Ada</p>');
  expect((await call('POST', path, { email: 'somebody@example.com' })).status).toBe(403);
  expect((await call('POST', `/templates/${project.id}/test`, { email: member })).body.error.code).toBe(
    'TEMPLATE_NOT_FOUND',
  );
  expect(await database.db.rows('select 1 from emails where project_id = $1', [project.id])).toEqual([]);
});

test('a test leaves no row, no event and no count, in whatever state the campaign is', async () => {
  await call('POST', '/contacts', { email: member });
  for (const status of ['DRAFT', 'SCHEDULED', 'SENDING', 'SENT', 'CANCELLED']) {
    const id = await created();
    await database.db.count('update campaigns set status = $2 where id = $1', [id, status]);
    expect((await testSend(id, { email: member })).status).toBe(200);
    const stats = await call('GET', `/campaigns/${id}/stats`);
    expect(stats.body.data).toMatchObject({ sentCount: 0 });
  }
  expect(await database.db.rows('select 1 from emails where project_id = $1', [project.id])).toEqual([]);
  expect(
    await database.db.rows(`select 1 from events where project_id = $1 and name like 'email.%'`, [project.id]),
  ).toEqual([]);
});

test.each([
  ['no member of the project', { email: 'somebody@example.com' }, 403],
  ['no address', { email: 'somebody' }, 422],
  ['a list', { email: ['owner@example.com'] }, 422],
  ['nothing', {}, 422],
])('a test to %s is refused', async (_, body, status) => {
  const answer = await testSend(await created(), body);
  expect(answer.status).toBe(status);
  expect(mailer.calls).toEqual([]);
});

test('a member of another project gets no test', async () => {
  const other = await aProject(database);
  const row = await database.db.row<{ email: string }>(
    'select u.email from users u join memberships m on m.user_id = u.id where m.project_id = $1',
    [other.id],
  );
  expect((await testSend(await created(), { email: row?.email })).status).toBe(403);
});

test('a test from a domain that is no longer verified is refused', async () => {
  const id = await created();
  await database.db.count('update domains set verified = false where project_id = $1', [project.id]);
  await expect.poll(async () => (await testSend(id, { email: member })).status).toBe(403);
});

test('a test that the provider does not take answers EXTERNAL_SERVICE_ERROR with its reason', async () => {
  mailer.options.rejects = { [member]: 300 };
  const answer = await testSend(await created(), { email: member });
  expect(answer.status).toBe(500);
  expect(answer.body.error).toMatchObject({ code: 'EXTERNAL_SERVICE_ERROR' });
  expect(answer.body.error.message).toContain('refused with 300');
});
