import { afterAll, beforeAll, expect, test } from 'vitest';
import { composeQueued, createComposer } from '../../../src/mail/engine/compose.ts';
import { nextWork } from '../../../src/mail/queue/claims.ts';
import { type DeliveryReport, deliverPending } from '../../../src/mail/queue/deliver.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { deliveryDeps } from '../../support/delivery-fixtures.ts';
import { inFull } from '../../support/long.ts';
import { FakeMailer } from '../../support/mailer.ts';

const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;

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

const call = (project: TestProject, method: string, path: string, body?: object) =>
  api.call(project.secretKey, method, `/v1/emails${path}`, body);
const inTime = (ms: number) => new Date(Date.now() + ms).toISOString();

function send(project: TestProject, more: object = {}) {
  const body = { to: 'ada@example.com', from: project.sender, subject: 'Hello', body: '<p>Hi</p>', ...more };
  return api.call(project.secretKey, 'POST', '/v1/send', body);
}

async function sentId(project: TestProject, more: object = {}): Promise<string> {
  const { status, body } = await send(project, more);
  expect(status).toBe(200);
  return body.data.emails[0].email;
}

async function deliver(
  project: TestProject,
  mailer = aMailer(),
): Promise<{ mailer: FakeMailer; report: DeliveryReport }> {
  const run = { projectId: project.id, prefix: `${mailer.name}/1/`, attempt: 1, stop: new AbortController().signal };
  const composer = createComposer(api.config, { warn: () => undefined });
  const deps = deliveryDeps(database.db, mailer, { compose: (mail) => composeQueued(composer, mail) });
  const report = await deliverPending(deps, run, { claims: 1, lingerMs: 0, longestMs: 600_000 });
  return { mailer, report };
}

function aMailer(): FakeMailer {
  return new FakeMailer({ name: `scheduled-${mailers++}` });
}

/** Lets the time of a scheduled mail come. */
async function makeDue(id: string): Promise<void> {
  await database.db.count(
    'update email_queue set due_at = now() - make_interval(secs => 1), created_at = now() - make_interval(secs => 1) where email_id = $1',
    [id],
  );
}

test('scheduled and held mail waits for its time, says so, and ends the delivery when that is far away', async () => {
  const project = await aProject(database);
  const scheduledFor = inTime(dayMs);
  const answer = await send(project, { scheduledFor });
  const [item] = answer.body.data.emails;
  expect(item).toMatchObject({ scheduledFor, heldUntil: null });
  const held = (await send(project, { hold: '2h' })).body.data.emails[0];
  expect(held.scheduledFor).toBeNull();
  expect(Date.parse(held.heldUntil) - Date.now()).toBeGreaterThan(110 * minuteMs);
  expect((await call(project, 'GET', `/${item.email}`)).body).toMatchObject({
    status: 'PENDING',
    scheduledFor,
    heldUntil: null,
  });
  const none = await deliver(project);
  expect(none.mailer.sent).toEqual([]);
  expect(none.report).toMatchObject({ waitMs: null, held: null });
  // It is no backlog of the provider either.
  expect(await nextWork(database.db, project.id, 0, 500)).toMatchObject({ ready: 0, waiting: 0 });
  const soon = await sentId(project, { scheduledFor: inTime(5 * minuteMs) });
  const { report } = await deliver(project);
  expect(report.waitMs).toBeGreaterThan(4 * minuteMs);
  await makeDue(soon);
  expect((await deliver(project)).mailer.sent.map(({ emailId }) => emailId)).toEqual([soon]);
});

test('a time in the past means now, in the record as in the queue', async () => {
  const project = await aProject(database);
  const id = await sentId(project, { scheduledFor: '2020-01-01T00:00:00+02:00' });
  expect((await deliver(project)).mailer.sent).toHaveLength(1);
  expect((await call(project, 'GET', `/${id}`)).body).toMatchObject({ status: 'SENT', scheduledFor: null });
});

test.each([
  ['more than 30 days ahead', { scheduledFor: inTime(31 * dayMs) }, 'scheduledFor', 'too_big'],
  ['without an offset', { scheduledFor: '2026-12-24T18:00:00' }, 'scheduledFor', 'invalid_string'],
  ['that is no instant', { scheduledFor: 'tomorrow' }, 'scheduledFor', 'invalid_string'],
  ['held for 14 minutes', { hold: '14m' }, 'hold', 'custom'],
  ['held for 25 hours', { hold: '25h' }, 'hold', 'custom'],
  ['both held and scheduled', { hold: '1h', scheduledFor: inTime(dayMs) }, 'hold', 'custom'],
])('mail %s is refused', async (_, more, field, code) => {
  const project = await aProject(database);
  const { status, body } = await send(project, more);
  expect([status, body.error.errors[0].field]).toEqual([422, field]);
  if (code === 'too_big') expect(body.error.errors[0].code).toBe(code);
});

test('cancelled mail is never sent, gives back its quota, and says when and why', async () => {
  const project = await aProject(database);
  await database.db.count(`update projects set billing_limit_transactional = 1 where id = $1`, [project.id]);
  const id = await sentId(project, { hold: '1h', attachments: [aFile(10)] });
  expect((await send(project)).body.error.code).toBe('BILLING_LIMIT_EXCEEDED');
  const { status, body } = await call(project, 'POST', `/${id}/cancel`);
  expect(status).toBe(200);
  expect(body).toMatchObject({ id, status: 'CANCELLED', error: 'Cancelled before it was sent' });
  expect(body.timeline.map(({ type }: { type: string }) => type)).toEqual(['accepted', 'cancelled']);
  const again = await call(project, 'POST', `/${id}/cancel`);
  expect([again.status, again.body.error]).toMatchObject([
    409,
    { code: 'EMAIL_LEFT', details: { status: 'CANCELLED' } },
  ]);
  expect(await database.db.row(`select attachments @? '$[*].content' as kept from emails where id = $1`, [id])).toEqual(
    {
      kept: false,
    },
  );
  const next = await sentId(project);
  expect((await deliver(project)).mailer.sent.map(({ emailId }) => emailId)).toEqual([next]);
  const stranger = await aProject(database);
  expect((await call(stranger, 'POST', `/${next}/cancel`)).status).toBe(404);
});

test('mail is moved to another time and released, until it has left', async () => {
  const project = await aProject(database);
  const id = await sentId(project, { hold: '1h' });
  const scheduledFor = inTime(3 * dayMs);
  const moved = await call(project, 'PATCH', `/${id}`, { scheduledFor });
  expect([moved.status, moved.body]).toMatchObject([200, { scheduledFor, heldUntil: null, status: 'PENDING' }]);
  // What gives up on old mail counts from the time that was chosen.
  expect(
    await database.db.row(
      'select due_at = created_at and due_at > now() as later from email_queue where email_id = $1',
      [id],
    ),
  ).toEqual({ later: true });
  expect((await call(project, 'PATCH', `/${id}`, { scheduledFor: inTime(31 * dayMs) })).status).toBe(422);
  expect((await call(project, 'POST', `/${id}/release`)).body).toMatchObject({ scheduledFor: null, status: 'PENDING' });
  const mailer = aMailer();
  const meanwhile: unknown[] = [];
  mailer.onCall = async () => {
    for (const [method, path, body] of [
      ['POST', '/cancel'],
      ['POST', '/release'],
      ['PATCH', '', { scheduledFor }],
    ] as const)
      meanwhile.push((await call(project, method, `/${id}${path}`, body)).body.error.details);
  };
  await deliver(project, mailer);
  expect(meanwhile).toEqual(Array(3).fill({ status: 'SENDING' }));
  expect((await call(project, 'PATCH', `/${id}`, { scheduledFor })).body.error).toMatchObject({
    code: 'EMAIL_LEFT',
    details: { status: 'SENT' },
  });
});

const races = inFull(200, 80);

test(`of ${races} mails that are cancelled while they are claimed, each ends cancelled or sent`, async () => {
  const projects = await Promise.all(Array.from({ length: 10 }, () => aProject(database)));
  for (let round = 0; round < races / projects.length; round++)
    await Promise.all(
      projects.map(async (project, place) => {
        const id = await sentId(project);
        const mailer = aMailer();
        // Some begin together, some a little apart.
        const wait = ((round + place) % 8) * 2;
        const cancelling = new Promise((resolve) => setTimeout(resolve, wait)).then(() =>
          call(project, 'POST', `/${id}/cancel`),
        );
        const [answer] = await Promise.all([cancelling, deliver(project, mailer)]);
        const isCancelled = answer.status === 200;
        const row = await database.db.row(
          'select status, exists (select from email_queue where email_id = e.id) as queued from emails e where id = $1',
          [id],
        );
        expect(row).toEqual({ status: isCancelled ? 'CANCELLED' : 'SENT', queued: false });
        expect(mailer.sent.length).toBe(isCancelled ? 0 : 1);
      }),
    );
});

test('what changed between accepting and the time counts: suppression, subscription and domain', async () => {
  const project = await aProject(database);
  const template = await api.call(project.secretKey, 'POST', '/templates', {
    name: 'News',
    subject: 'News',
    body: '<p>News</p>',
    type: 'MARKETING',
    from: project.sender,
  });
  const scheduledFor = inTime(dayMs);
  const suppressed = await sentId(project, { to: 'tester@later.example', scheduledFor });
  const marketing = { template: template.body.id, subscribed: true, to: 'gone@example.com', scheduledFor };
  const unsubscribed = await sentId(project, marketing);
  const rule = { name: 'Later', kind: 'DOMAIN', pattern: 'later.example' };
  expect((await api.call(project.secretKey, 'POST', '/suppressions', rule)).status).toBeLessThan(300);
  await database.db.count(
    `update contacts set subscribed = false where project_id = $1 and email = 'gone@example.com'`,
    [project.id],
  );
  for (const id of [suppressed, unsubscribed]) await makeDue(id);
  expect((await deliver(project)).mailer.sent).toEqual([]);
  expect((await call(project, 'GET', `/${suppressed}`)).body.status).toBe('SUPPRESSED');
  expect((await call(project, 'GET', `/${unsubscribed}`)).body).toMatchObject({
    status: 'FAILED',
    error: 'The contact is not subscribed',
  });
  const unverified = await sentId(project, { scheduledFor });
  await database.db.count('update domains set verified = false where project_id = $1', [project.id]);
  await makeDue(unverified);
  expect((await deliver(project)).mailer.sent).toEqual([]);
  expect((await call(project, 'GET', `/${unverified}`)).body.error).toBe('Sender domain is not verified');
});

test('attachments of scheduled mail take 1 GB of a project at most', async () => {
  const project = await aProject(database);
  const id = await sentId(project, { hold: '1h', attachments: [aFile(1_000)] });
  await database.db.count('update email_queue set bytes = $2 where email_id = $1', [id, 1024 * 1024 * 1024 - 100]);
  const full = await send(project, { hold: '1h', attachments: [aFile(1_000)] });
  expect([full.status, full.body.error.code]).toEqual([409, 'SCHEDULED_STORAGE_FULL']);
  // Mail of now, and mail without files, is not concerned.
  await sentId(project, { attachments: [aFile(1_000)] });
  await sentId(project, { hold: '1h' });
  await call(project, 'POST', `/${id}/cancel`);
  await sentId(project, { hold: '1h', attachments: [aFile(1_000)] });
});

function aFile(bytes: number) {
  return { filename: 'a.txt', contentType: 'text/plain', content: Buffer.alloc(bytes, 'a').toString('base64') };
}

test('scheduled mail is listed by when it is due, page by page, and without mail that was sent or cancelled', async () => {
  const project = await aProject(database);
  const late = await sentId(project, { scheduledFor: inTime(3 * dayMs), subject: 'Late {{email}}' });
  const soon = await sentId(project, { scheduledFor: inTime(dayMs), to: 'bo@example.com' });
  const held = await sentId(project, { hold: '15m' });
  await sentId(project);
  const cancelled = await sentId(project, { scheduledFor: inTime(dayMs) });
  await call(project, 'POST', `/${cancelled}/cancel`);
  await deliver(project);
  const list = async (query: string) => (await call(project, 'GET', `?scheduled=true${query}`)).body;
  const ids = (page: { data: { id: string }[] }) => page.data.map(({ id }) => id);
  const whole = await list('');
  expect(ids(whole)).toEqual([held, soon, late]);
  expect(whole.data[2].subject).toBe('Late ada@example.com');
  expect(ids(await list('&to=bo@example.com'))).toEqual([soon]);
  expect(ids(await list('&to=nobody@example.com'))).toEqual([]);
  const first = await list('&limit=2');
  expect([ids(first), first.hasMore]).toEqual([[held, soon], true]);
  const second = await list(`&limit=2&cursor=${first.cursor}`);
  expect([ids(second), second.hasMore]).toEqual([[late], false]);
  expect((await call(project, 'GET', '?scheduled=true&cursor=bm8')).status).toBe(400);
  expect(ids((await api.call((await aProject(database)).secretKey, 'GET', '/v1/emails?scheduled=true')).body)).toEqual(
    [],
  );
});

test('who moved, released or cancelled a mail is in the log of the project', async () => {
  const project = await aProject(database);
  const [moved, cancelled] = [
    await sentId(project, { scheduledFor: inTime(dayMs) }),
    await sentId(project, { hold: '15m' }),
  ];
  const scheduledFor = inTime(2 * dayMs);
  expect((await call(project, 'PATCH', `/${moved}`, { scheduledFor })).status).toBe(200);
  expect((await call(project, 'POST', `/${moved}/release`)).status).toBe(200);
  expect((await call(project, 'POST', `/${cancelled}/cancel`)).status).toBe(200);
  // A refusal changes nothing, and is no entry.
  expect((await call(project, 'POST', `/${cancelled}/cancel`)).status).toBe(409);
  const log = await api.call(project.secretKey, 'GET', `/projects/${project.id}/audit-log`);
  expect(log.body.data).toMatchObject([
    { action: 'email.cancelled', target: cancelled },
    { action: 'email.released', target: moved },
    { action: 'email.rescheduled', target: moved, after: { scheduledFor } },
  ]);
});
