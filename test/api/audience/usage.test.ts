import { afterAll, beforeAll, expect, test } from 'vitest';
import { quotaFor, reserveMail, reserveReceivedMail } from '../../../src/billing/service.ts';
import { usageOf } from '../../../src/billing/usage-queries.ts';
import type { Notification } from '../../../src/domains/providers/mailer.ts';
import { applyNotification } from '../../../src/feedback/reports/notify.ts';
import { newId } from '../../../src/lib/ids.ts';
import { type Settlement, settleMail } from '../../../src/mail/ledger/settle.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

let database: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
});
afterAll(async () => {
  await api.close();
  await database.close();
});

const unlimited = { freeTier: null, publicDailyEmails: null };
const send = (project: TestProject, to: unknown, through: TestApi = api) =>
  through.call(project.secretKey, 'POST', '/v1/send', { to, from: project.sender, subject: 'Heron', body: 'Look up.' });

async function limit(project: TestProject, category: string, mails: number | null): Promise<void> {
  await database.db.count(`update projects set billing_limit_${category} = $2 where id = $1`, [project.id, mails]);
  // The notification of the change may still be on its way.
  api.app.directory.forget(project.id);
}

/** Writes down so many mails of this month that were sent before. */
async function used(project: TestProject, count: number): Promise<void> {
  await database.db.count(
    `insert into usage_counters (project_id, month, category, settled)
     values ($1, date_trunc('month', now() at time zone 'UTC')::date, 'TRANSACTIONAL', $2)`,
    [project.id, count],
  );
}

const rowsOf = async (project: TestProject) =>
  (
    await database.db.row<{ count: number }>('select count(*)::int as count from emails where project_id = $1', [
      project.id,
    ])
  )?.count;

test('two hundred concurrent sends at nine emails below the limit let exactly nine through', async () => {
  const project = await aProject(database);
  await used(project, 991);
  await limit(project, 'transactional', 1000);
  await using second = await testApi(database);
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, n) => send(project, `reader-${n}@example.com`, n % 2 === 0 ? api : second)),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(9);
  const refused = answers.filter(({ status }) => status === 402);
  expect(refused).toHaveLength(191);
  expect(refused[0]?.body.error).toMatchObject({
    code: 'BILLING_LIMIT_EXCEEDED',
    details: { category: 'TRANSACTIONAL', usage: 1000, limit: 1000 },
  });
  expect(await rowsOf(project)).toBe(9);
  expect((await usageOf(database.db, project.id)).TRANSACTIONAL).toBe(1000);
});

test('two hundred concurrent sends to two recipients each never split a request at the limit', async () => {
  const project = await aProject(database);
  await used(project, 991);
  await limit(project, 'transactional', 1000);
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, n) => send(project, [`a-${n}@example.com`, `b-${n}@example.com`])),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(4);
  expect(await rowsOf(project)).toBe(8);
});

test('a request of more recipients than there is room for sends to nobody', async () => {
  const project = await aProject(database);
  await limit(project, 'transactional', 2);
  const answer = await send(project, ['a@example.com', 'b@example.com', 'c@example.com']);
  expect([answer.status, await rowsOf(project)]).toEqual([402, 0]);
  expect((await send(project, ['a@example.com', 'b@example.com'])).status).toBe(200);
});

test('mail that fails without having left gives its room back, and mail that was sent does not', async () => {
  const project = await aProject(database);
  await limit(project, 'transactional', 2);
  const sent = await send(project, ['a@example.com', 'b@example.com']);
  expect(sent.status).toBe(200);
  const [gone, refused] = sent.body.data.emails.map(({ email }: { email: string }) => email);
  expect((await send(project, 'c@example.com')).status).toBe(402);
  await database.db.count(`update email_queue set claim_id = 'c1' where project_id = $1`, [project.id]);
  await settleMail(database.db, { id: 'c1', provider: 'fake' }, [
    {
      emailId: gone,
      outcome: 'SENT',
      messageId: 'm1',
      at: new Date().toISOString(),
      subject: 's',
      body: 'b',
      stream: null,
    },
    { emailId: refused, outcome: 'FAILED', reason: { code: 'provider', words: 'Refused' }, subject: null, body: null },
  ]);
  expect((await usageOf(database.db, project.id)).TRANSACTIONAL).toBe(1);
  expect((await send(project, 'c@example.com')).status).toBe(200);
  expect((await send(project, 'd@example.com')).status).toBe(402);
});

test('without a limit usage is counted from the ledger, waiting mail included, and a later limit begins there', async () => {
  const project = await aProject(database);
  const sent = await send(project, ['a@example.com', 'b@example.com', 'c@example.com']);
  await database.db.count(`update email_queue set claim_id = 'c2' where project_id = $1`, [project.id]);
  await settleMail(database.db, { id: 'c2', provider: 'fake' }, [
    {
      emailId: sent.body.data.emails[0].email,
      outcome: 'SENT',
      messageId: 'm2',
      at: new Date().toISOString(),
      subject: 's',
      body: 'b',
      stream: null,
    },
  ]);
  expect((await usageOf(database.db, project.id)).TRANSACTIONAL).toBe(3);
  await limit(project, 'transactional', 4);
  await expect.poll(async () => (await send(project, ['d@example.com', 'e@example.com'])).status).toBe(402);
  // What was asked for before the limit was heard of was let through, and counts.
  const { TRANSACTIONAL: used = 0 } = await usageOf(database.db, project.id);
  await limit(project, 'transactional', used + 1);
  await expect.poll(async () => (await send(project, 'd@example.com')).status).toBe(200);
  expect((await send(project, 'd@example.com')).status).toBe(402);
});

test('the free tier is one allowance over all categories, until the project pays or sets limits of its own', async () => {
  const project = await aProject(database);
  const free = { freeTier: 5, publicDailyEmails: null };
  const ask = (category: 'CAMPAIGN' | 'WORKFLOW' | 'TRANSACTIONAL' | 'INBOUND', count: number, partly = false) =>
    reserveMail(database.db, free, { projectId: project.id, category, count, partly });
  expect((await ask('CAMPAIGN', 2)).granted).toBe(2);
  expect((await ask('WORKFLOW', 2)).granted).toBe(2);
  expect(await ask('TRANSACTIONAL', 2)).toEqual({ granted: 0, limit: 5, usage: 4 });
  expect((await ask('CAMPAIGN', 100, true)).granted).toBe(1);
  expect(await reserveReceivedMail(database.db, free, project.id)).toBe(false);
  expect(
    (await reserveMail(database.db, unlimited, { projectId: project.id, category: 'CAMPAIGN', count: 9 })).granted,
  ).toBe(9);
  await database.db.count(`update projects set subscription = 'sub_1' where id = $1`, [project.id]);
  expect((await ask('TRANSACTIONAL', 2)).granted).toBe(2);
});

test('two hundred parts of a campaign at once share what is left, and no mail more', async () => {
  const project = await aProject(database);
  await limit(project, 'campaigns', 1234);
  const rooms = await Promise.all(
    Array.from({ length: 200 }, () =>
      database.db.transaction((sql) =>
        reserveMail(sql, unlimited, { projectId: project.id, category: 'CAMPAIGN', count: 10, partly: true }),
      ),
    ),
  );
  expect(rooms.reduce((sum, { granted }) => sum + granted, 0)).toBe(1234);
  expect(await quotaFor(database.db, unlimited, { projectId: project.id, category: 'CAMPAIGN', count: 1 })).toEqual({
    granted: 0,
    limit: 1234,
    usage: 1234,
  });
});

test('mail that was given up and proves to be delivered takes its room again', async () => {
  const project = await aProject(database);
  await limit(project, 'transactional', 1);
  const sent = await send(project, 'a@example.com');
  const emailId: string = sent.body.data.emails[0].email;
  await database.db.count(`update email_queue set claim_id = 'c3' where project_id = $1`, [project.id]);
  await settleMail(database.db, { id: 'c3', provider: 'fake' }, [
    { emailId, outcome: 'FAILED', reason: { code: 'submission_unknown' }, subject: null, body: null },
  ]);
  expect((await usageOf(database.db, project.id)).TRANSACTIONAL).toBe(0);
  const delivered: Notification = {
    key: 'delivery:m3',
    emailId,
    projectId: project.id,
    messageId: 'm3',
    recipient: 'a@example.com',
    at: new Date().toISOString(),
    effect: { kind: 'delivery' },
  };
  expect(await applyNotification(database.db, 'postmark', { emailId, projectId: project.id }, delivered, false)).toBe(
    'done',
  );
  expect((await usageOf(database.db, project.id)).TRANSACTIONAL).toBe(1);
  expect((await send(project, 'b@example.com')).status).toBe(402);
});

test('mail that was given up and is found with the provider takes its quota again', async () => {
  const project = await aProject(database);
  await limit(project, 'transactional', 1);
  const sent = await send(project, 'a@example.com');
  const emailId: string = sent.body.data.emails[0].email;
  await database.db.count(`update email_queue set claim_id = 'c4' where project_id = $1`, [project.id]);
  const settle = (settlement: Settlement) => settleMail(database.db, { id: 'c4', provider: 'fake' }, [settlement]);
  const texts = { subject: 's', body: 'b' };
  await settle({ emailId, outcome: 'FAILED', reason: { code: 'submission_unknown' }, ...texts });
  expect((await usageOf(database.db, project.id)).TRANSACTIONAL).toBe(0);
  const found = { emailId, outcome: 'SENT', messageId: 'm4', at: new Date().toISOString(), ...texts } as const;
  expect(await settle(found)).toEqual({ sent: 1, skipped: 0, failed: 0 });
  expect(await settle(found)).toEqual({ sent: 0, skipped: 0, failed: 0 });
  expect((await usageOf(database.db, project.id)).TRANSACTIONAL).toBe(1);
  expect((await send(project, 'b@example.com')).status).toBe(402);
});

test('what is rolled back was never counted', async () => {
  const project = await aProject(database);
  await limit(project, 'workflows', 1);
  const request = { projectId: project.id, category: 'WORKFLOW' as const, count: 1 };
  await expect(
    database.db.transaction(async (sql) => {
      expect((await reserveMail(sql, unlimited, request)).granted).toBe(1);
      throw new Error('rolled back');
    }),
  ).rejects.toThrow('rolled back');
  expect((await reserveMail(database.db, unlimited, request)).granted).toBe(1);
  expect((await reserveMail(database.db, unlimited, request)).granted).toBe(0);
});

test('received mail beyond its limit is dropped, and other projects still get theirs', async () => {
  const [one, other] = [await aProject(database), await aProject(database)];
  await limit(one, 'inbound', 1);
  expect(await reserveReceivedMail(database.db, unlimited, one.id)).toBe(true);
  expect(await reserveReceivedMail(database.db, unlimited, one.id)).toBe(false);
  expect(await reserveReceivedMail(database.db, unlimited, other.id)).toBe(true);
  expect((await usageOf(database.db, one.id)).INBOUND).toBe(1);
  expect((await usageOf(database.db, other.id)).INBOUND).toBe(1);
});

test('mail of another month is another count', async () => {
  const project = await aProject(database);
  await limit(project, 'transactional', 1);
  await database.db.count(
    `insert into usage_counters (project_id, month, category, settled, reserved)
     values ($1, (date_trunc('month', now() at time zone 'UTC') - interval '1 month')::date, 'TRANSACTIONAL', 1, 1)`,
    [project.id],
  );
  expect((await send(project, `reader-${newId()}@example.com`)).status).toBe(200);
});
