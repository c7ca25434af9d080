import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { lettersTo, type QueuedLetter, tokenOf } from '../../support/letters.ts';
import { aPerson, cookieOf, joins, type Person } from '../../support/people.ts';

let database: TestDatabase;
let api: TestApi;
let project: TestProject;
let admin: Person;
let member: Person;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database, {
    REQUIRE_EMAIL_VERIFICATION: 'true',
    DISABLE_SIGNUPS: 'true',
    DASHBOARD_URI: 'https://mail.harbour.test',
  });
  project = await aProject(database);
  admin = await aPerson(database.db, api.config, { name: 'oskar.lind' });
  member = await aPerson(database.db, api.config, { name: 'ines.faro' });
  await joins(database.db, project.id, admin, 'ADMIN');
  await joins(database.db, project.id, member, 'MEMBER');
});

afterAll(async () => {
  await api?.close();
  await database?.close();
});

const list = () => `/projects/${project.id}/invitations`;
const inviteAs = (person: Person, email: string, role = 'MEMBER') =>
  api.call(null, 'POST', list(), { email, role }, person.session);
const letterTo = async (email: string) => (await lettersTo(database.db, api.config, email)).at(-1) as QueuedLetter;
const invited = async (email: string, role = 'MEMBER') => {
  expect((await inviteAs(admin, email, role)).status).toBe(201);
  return tokenOf(await letterTo(email));
};
const post = (path: string, body: unknown, person?: Person) =>
  api.call(null, 'POST', path, body, person?.session ?? {});
const roleOf = async (email: string) =>
  (
    await database.db.row<{ role: string }>(
      'select m.role from memberships m join users u on u.id = m.user_id where m.project_id = $1 and u.email = $2',
      [project.id, email],
    )
  )?.role ?? null;

test('somebody without an account gets a mail, chooses a password and is in, where sign-ups are disabled', async () => {
  const email = 'nora.quist@harbourmail.test';
  const made = await inviteAs(admin, ' Nora.Quist@Harbourmail.test ', 'ADMIN');
  expect(made).toMatchObject({ status: 201, body: { email, role: 'ADMIN', invitedBy: admin.email } });
  const letter = await letterTo(email);
  expect(letter.link).toMatch(/^https:\/\/mail\.harbour\.test\/auth\/invitation\?token=[0-9a-f]{64}$/);
  expect(letter.text).toContain(admin.email);
  const token = tokenOf(letter);

  const found = await post('/invitations/find', { token });
  expect(found.body).toMatchObject({ email, role: 'ADMIN', hasAccount: false, invitedBy: admin.email });
  expect(found.body.project.id).toBe(project.id);

  const joined = await post('/invitations/sign-up', { token, password: 'a long walk by the sea' });
  expect(joined).toMatchObject({ status: 200, body: { success: true, data: { email } } });
  const members = await api.call(
    null,
    'GET',
    `/projects/${project.id}/members`,
    undefined,
    cookieOf(joined.headers) ?? {},
  );
  expect(members.body.data).toContainEqual(expect.objectContaining({ email, role: 'ADMIN' }));
  expect((await api.call(null, 'GET', list(), undefined, admin.session)).body.data).toEqual([]);
  expect((await post('/auth/login', { email, password: 'a long walk by the sea' })).status).toBe(200);
});

test('a link works once, also for two at once', async () => {
  const token = await invited('ada.bell@harbourmail.test');
  const body = { token, password: 'a long walk by the sea' };
  const answers = await Promise.all([1, 2, 3].map(() => post('/invitations/sign-up', body)));
  expect(answers.map(({ status }) => status === 200).filter(Boolean)).toHaveLength(1);
  for (const { status } of answers.filter((each) => each.status !== 200)) expect([400, 409]).toContain(status);
  expect((await post('/invitations/find', { token })).status).toBe(400);
});

test('an account accepts with its own session, which also confirms its address', async () => {
  const guest = await aPerson(database.db, api.config, { name: 'tom.reyes', verified: false });
  const token = await invited(guest.email);
  expect((await post('/invitations/find', { token })).body).toMatchObject({ hasAccount: true });
  expect((await post('/invitations/sign-up', { token, password: 'a long walk by the sea' })).status).toBe(409);
  expect((await post('/invitations/accept', { token })).status).toBe(401);
  const stranger = await post('/invitations/accept', { token }, member);
  expect(stranger).toMatchObject({ status: 403, body: { error: { details: { reason: 'address' } } } });
  expect(await roleOf(guest.email)).toBeNull();
  const accepted = await post('/invitations/accept', { token }, guest);
  expect(accepted).toMatchObject({ status: 200, body: { data: { projectId: project.id } } });
  expect(await roleOf(guest.email)).toBe('MEMBER');
  expect((await api.call(null, 'GET', '/users/@me', undefined, guest.session)).status).toBe(200);
});

test('inviting again replaces the link and the role; revoking and time end it', async () => {
  const email = 'kim.aster@harbourmail.test';
  const first = await invited(email);
  const second = await invited(email, 'ADMIN');
  expect((await post('/invitations/find', { token: first })).status).toBe(400);
  expect((await post('/invitations/find', { token: second })).body).toMatchObject({ role: 'ADMIN' });
  const { data } = (await api.call(null, 'GET', list(), undefined, admin.session)).body;
  expect(data.filter((each: { email: string }) => each.email === email)).toHaveLength(1);
  const one = `${list()}/${data[0].id}`;
  expect((await api.call(null, 'DELETE', one, undefined, admin.session)).status).toBe(204);
  expect((await api.call(null, 'DELETE', one, undefined, admin.session)).status).toBe(404);
  expect((await post('/invitations/find', { token: second })).status).toBe(400);

  const late = await invited('late.reader@harbourmail.test');
  await database.db.count(`update project_invitations set expires_at = now() - interval '1 second'`);
  const answer = await post('/invitations/sign-up', { token: late, password: 'a long walk by the sea' });
  expect(answer).toMatchObject({ status: 400 });
  expect(answer.body.error.message).toContain('ask for a new one');
});

test('members cannot invite, members cannot be invited, and one person sends 30 invitations an hour', async () => {
  expect((await inviteAs(member, 'friend@harbourmail.test')).status).toBe(403);
  expect(await inviteAs(admin, member.email)).toMatchObject({ status: 409 });
  expect((await inviteAs(admin, 'no address')).status).toBe(422);
  expect((await inviteAs(admin, 'boss@harbourmail.test', 'OWNER')).status).toBe(422);
  const eager = await aPerson(database.db, api.config, { name: 'eager' });
  await joins(database.db, project.id, eager, 'ADMIN');
  const answers = await Promise.all(
    Array.from({ length: 32 }, (_, n) => inviteAs(eager, `guest-${n}@harbourmail.test`)),
  );
  expect(answers.map(({ status }) => status).filter((status) => status === 201)).toHaveLength(30);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(2);
});

test('the audit log names who invited, revoked and joined, and never the token', async () => {
  const token = await invited('logged@harbourmail.test');
  await post('/invitations/sign-up', { token, password: 'a long walk by the sea' });
  const log = await api.call(null, 'GET', `/projects/${project.id}/audit-log`, undefined, admin.session);
  const actions = log.body.data.map(({ action }: { action: string }) => action);
  expect(actions).toEqual(expect.arrayContaining(['invitation.created', 'invitation.revoked', 'member.added']));
  expect(JSON.stringify(log.body)).not.toContain(token);
});
