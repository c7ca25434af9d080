import { afterAll, beforeAll, expect, test } from 'vitest';
import { composeQueued, createComposer } from '../../../src/mail/engine/compose.ts';
import { emptyOldBodies } from '../../../src/mail/ledger/retention.ts';
import { deliverPending } from '../../../src/mail/queue/deliver.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { deliveryDeps } from '../../support/delivery-fixtures.ts';
import { FakeMailer, type FakeMailerOptions } from '../../support/mailer.ts';

const to = 'ada@example.com';
const file = { filename: 'a.txt', content: 'QQ==', contentType: 'text/plain' };

let database: TestDatabase;
let api: TestApi;
let mailers = 0;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
});
afterAll(async () => {
  await api.close();
  await database.close();
});

const call = (project: TestProject, method: string, path: string, body?: object, headers = {}) =>
  api.call(project.secretKey, method, path, body, headers);

async function deliver(project: TestProject, options: FakeMailerOptions = {}): Promise<FakeMailer> {
  const mailer = new FakeMailer({ name: `resend-${mailers++}`, ...options });
  const run = { projectId: project.id, prefix: `${mailer.name}/1/`, attempt: 1, stop: new AbortController().signal };
  const composer = createComposer(api.config, { warn: () => undefined });
  const deps = deliveryDeps(database.db, mailer, { compose: (mail) => composeQueued(composer, mail) });
  await deliverPending(deps, run, { claims: 1, lingerMs: 0, longestMs: 600_000 });
  return mailer;
}

/** A mail that the provider refuses. */
async function aFailed(project: TestProject, more: object = {}): Promise<string> {
  const mail = { to, from: project.sender, subject: 'For {{ name }}', body: '<p>Hello {{ name }}</p>', ...more };
  const sent = await call(project, 'POST', '/v1/send', { data: { name: 'Ada' }, ...mail });
  expect(sent.status).toBe(200);
  await deliver(project, { rejects: { [to]: 300 } });
  return sent.body.data.emails[0].email;
}

const refusalOf = ({ status, body }: { status: number; body: { error?: { code: string } } }) => [
  status,
  body.error?.code,
];

test('what failed goes out as it was accepted, as a new mail that points to the first', async () => {
  const project = await aProject(database);
  const text = 'Plain {{ name }}';
  const id = await aFailed(project, { tags: { order: 'A-17' }, text, headers: { 'X-Own': 'kept' } });
  const failed = (await call(project, 'GET', `/v1/emails/${id}?include=body`)).body;
  expect(failed).toMatchObject({ status: 'FAILED', subject: 'For Ada', resendOf: null, resends: [] });
  expect(failed.body).toContain('Hello Ada');
  // The contact's data of today is not what was accepted.
  await call(project, 'POST', '/v1/track', { email: to, event: 'renamed', data: { name: 'Grace' } });
  const resent = await call(project, 'POST', `/v1/emails/${id}/resend`, {});
  expect(resent.status).toBe(201);
  expect(resent.body).toMatchObject({ status: 'PENDING', subject: 'For Ada', resendOf: id, tags: { order: 'A-17' } });
  expect(resent.body.id).not.toBe(id);
  const { taken } = await deliver(project);
  expect(taken.map(({ message }) => [message.emailId, message.subject, message.text])).toEqual([
    [resent.body.id, 'For Ada', expect.stringContaining('Plain Ada')],
  ]);
  expect(taken[0]?.message.headers).toEqual([{ name: 'X-Own', value: 'kept' }]);
  expect((await call(project, 'GET', `/v1/emails/${id}`)).body).toMatchObject({
    status: 'FAILED',
    resends: [resent.body.id],
  });
  expect(refusalOf(await call(project, 'POST', `/v1/emails/${resent.body.id}/resend`, {}))).toEqual([
    409,
    'EMAIL_NOT_FAILED',
  ]);
  const log = await call(project, 'GET', `/projects/${project.id}/audit-log?action=email.resent`);
  expect(log.body.data).toMatchObject([{ target: id, after: { email: resent.body.id } }]);
  const stranger = await aProject(database);
  expect((await call(stranger, 'POST', `/v1/emails/${id}/resend`, {})).status).toBe(404);
});

test('a resend under a key happens once, however often it is asked for', async () => {
  const project = await aProject(database);
  const id = await aFailed(project);
  const answers = await Promise.all(
    Array.from({ length: 8 }, () =>
      call(project, 'POST', `/emails/${id}/resend`, {}, { 'Idempotency-Key': 'resend-1' }),
    ),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array.from({ length: 7 }, () => 409)]);
  const replay = { 'Idempotency-Key': 'resend-2', 'Idempotency-Mode': 'replay' };
  const equal = await Promise.all(
    Array.from({ length: 8 }, () => call(project, 'POST', `/v1/emails/${id}/resend`, {}, replay)),
  );
  expect(new Set(equal.map(({ status, body }) => `${status} ${JSON.stringify(body)}`)).size).toBe(1);
  // The mail of another path is another request.
  expect((await call(project, 'POST', `/v1/emails/${equal[0]?.body.id}/resend`, {}, replay)).status).toBe(409);
  expect((await deliver(project)).taken).toHaveLength(2);
});

test('a resend without a key that is repeated sends nothing more, and says what was sent', async () => {
  const project = await aProject(database);
  const id = await aFailed(project);
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => call(project, 'POST', `/v1/emails/${id}/resend`, {})),
  );
  const [made, ...others] = answers.toSorted((one, other) => one.status - other.status);
  expect(made?.status).toBe(201);
  for (const { status, body } of others)
    expect([status, body.error.code, body.error.details]).toEqual([409, 'EMAIL_RESENT', { email: made?.body.id }]);
  expect((await deliver(project)).taken).toHaveLength(1);
});

test('mail that may have arrived is sent again on request alone', async () => {
  const project = await aProject(database);
  const id = await aFailed(project);
  await database.db.count(`update emails set reason = '{"code": "submission_unknown"}' where id = $1`, [id]);
  expect(refusalOf(await call(project, 'POST', `/v1/emails/${id}/resend`, {}))).toEqual([409, 'OUTCOME_UNKNOWN']);
  expect((await call(project, 'POST', `/v1/emails/${id}/resend`, { evenIfItArrived: true })).status).toBe(201);
});

test('a resend says when nothing is left of what was accepted', async () => {
  const project = await aProject(database);
  const id = await aFailed(project, { attachments: [file] });
  await emptyOldBodies(database.db, new Date(Date.now() + 60_000), 1_000_000);
  const old = (await call(project, 'GET', `/v1/emails/${id}?include=body`)).body;
  expect([old.subject, old.body]).toEqual(['For Ada', null]);
  expect(refusalOf(await call(project, 'POST', `/v1/emails/${id}/resend`, {}))).toEqual([409, 'EMAIL_CONTENT_GONE']);
  expect(await keptFiles(project)).toEqual([]);
});

test('attachments go out again, and those of a resend that fails too', async () => {
  const project = await aProject(database);
  const first = await aFailed(project, { attachments: [file, { ...file, filename: 'b.txt' }] });
  const second = (await call(project, 'POST', `/v1/emails/${first}/resend`, {})).body.id;
  await deliver(project, { rejects: { [to]: 300 } });
  expect((await keptFiles(project)).map(({ id }) => id)).toEqual([first, second]);
  const third = (await call(project, 'POST', `/v1/emails/${second}/resend`, {})).body.id;
  const { sent } = await deliver(project);
  const files = ['a.txt', 'b.txt'].map((filename) => ({ ...file, filename, contentId: null }));
  expect(sent.map(({ emailId, attachments }) => [emailId, attachments])).toEqual([[third, files]]);
  // What was sent keeps none.
  expect((await keptFiles(project)).map(({ id }) => id)).toEqual([first, second]);
});

test('a project keeps 1 GB of attachments of failed mail at most', async () => {
  const project = await aProject(database);
  const kept = await aFailed(project, { attachments: [file] });
  const [{ bytes = 0 } = {}] = await keptFiles(project);
  await database.db.count('update failed_attachments set bytes = $2 where email_id = $1', [kept, 2 ** 30 - bytes]);
  const fits = await aFailed(project, { attachments: [file] });
  const gone = await aFailed(project, { attachments: [file] });
  expect((await keptFiles(project)).map(({ id }) => id)).toEqual([kept, fits]);
  expect(refusalOf(await call(project, 'POST', `/v1/emails/${gone}/resend`, {}))).toEqual([409, 'EMAIL_CONTENT_GONE']);
  expect((await call(project, 'POST', `/v1/emails/${fits}/resend`, {})).status).toBe(201);
});

/** The failed mail of a project whose attachments are kept. */
function keptFiles(project: TestProject): Promise<{ id: string; bytes: number }[]> {
  return database.db.rows(
    `select email_id as id, bytes from failed_attachments f join emails e on e.id = f.email_id
     where f.project_id = $1 and e.attachments @? '$[*].content' order by 1`,
    [project.id],
  );
}

test('a resend takes its quota, and everything is checked once more when it leaves', async () => {
  const project = await aProject(database);
  const id = await aFailed(project);
  const resend = () => call(project, 'POST', `/v1/emails/${id}/resend`, {}, { 'Idempotency-Key': 'once' });
  const limitTo = async (mails: number | null) => {
    await database.db.count('update projects set billing_limit_transactional = $2 where id = $1', [project.id, mails]);
    // The notification of the change may still be on its way.
    api.app.directory.forget(project.id);
  };
  await limitTo(0);
  expect(refusalOf(await resend())).toEqual([402, 'BILLING_LIMIT_EXCEEDED']);
  await limitTo(null);
  // The refusal has not used up the key.
  const resent = await resend();
  expect(resent.status).toBe(201);
  await call(project, 'POST', '/suppressions', { name: 'Nobody', kind: 'DOMAIN', pattern: 'example.com' });
  expect((await deliver(project)).taken).toEqual([]);
  expect((await call(project, 'GET', `/v1/emails/${resent.body.id}`)).body.status).toBe('SUPPRESSED');
});

test("a campaign's mail is not resent by itself", async () => {
  const project = await aProject(database);
  const id = await aFailed(project);
  const made = await api.call(project.secretKey, 'POST', '/campaigns', {
    name: 'News',
    subject: 'News',
    body: '<p>News</p>',
    from: project.sender,
    audienceType: 'ALL',
  });
  const campaignId = made.body.data.id;
  await database.db.count(`update emails set campaign_id = $2, send_seq = 1, source_type = 'CAMPAIGN' where id = $1`, [
    id,
    campaignId,
  ]);
  const refused = await call(project, 'POST', `/v1/emails/${id}/resend`, {});
  expect([refused.status, refused.body.error.details]).toEqual([409, { campaignId }]);
});

test('what failed to a contact in the trash is not sent again', async () => {
  const project = await aProject(database);
  const id = await aFailed(project);
  // The mail of a contact that can be restored stays.
  await database.db.transaction(async (tx) => {
    await tx.rows('set local session_replication_role = replica');
    await tx.count('delete from contacts where project_id = $1', [project.id]);
  });
  expect((await call(project, 'POST', `/v1/emails/${id}/resend`, {})).status).toBe(404);
  const kept = await database.db.rows('select id from emails where project_id = $1', [project.id]);
  expect(kept).toEqual([{ id }]);
});
