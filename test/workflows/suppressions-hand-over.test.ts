import { afterAll, beforeAll, expect, test } from 'vitest';
import { deliverPending } from '../../src/mail/queue/deliver.ts';
import {
  aCampaign,
  campaignActivitiesFor,
  campaignRow,
  contacts,
  ledgerOf,
  started,
} from '../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aContact, aProject, deliveryDeps, queueMail, type TestProject } from '../support/delivery-fixtures.ts';
import { FakeMailer } from '../support/mailer.ts';
import { testWorker } from '../support/worker.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.close());

const aRule = (project: TestProject, kind: string, pattern: string) =>
  db.db.count(
    `insert into suppression_rules (id, project_id, name, kind, pattern) values (gen_random_uuid(), $1, 'QA', $2, $3)`,
    [project.id, kind, pattern],
  );
const told = async (project: TestProject) => {
  const row = await db.db.row<{ n: number }>(
    `select count(*)::int as n from events where project_id = $1 and name = 'email.sent'`,
    [project.id],
  );
  return row?.n;
};

test('a rule that comes after the mail was accepted still catches it, with the texts it would have had', async () => {
  const [project, other] = [await aProject(db.db), await aProject(db.db)];
  const queue = async (owner: TestProject, address: string) =>
    queueMail(db.db, owner, await aContact(db.db, owner.id, address), address);
  const caught = await queue(project, 'qa@acme.test');
  await queue(project, 'anna@example.com');
  await queue(other, 'qa@acme.test');
  await aRule(project, 'DOMAIN', 'acme.test');

  const mailer = new FakeMailer({ name: 'rules' });
  const run = { prefix: 'r/1/', attempt: 1, stop: new AbortController().signal };
  const pace = { claims: 2, lingerMs: 0, longestMs: 600_000 };
  const report = await deliverPending(deliveryDeps(db.db, mailer), { ...run, projectId: project.id }, pace);
  expect(report).toMatchObject({ delivered: 1, failed: 0 });
  await deliverPending(deliveryDeps(db.db, mailer), { ...run, prefix: 'r/2/', projectId: other.id }, pace);

  expect(mailer.recipients.toSorted()).toEqual(['anna@example.com', 'qa@acme.test']);
  expect(mailer.sent.map(({ projectId }) => projectId).toSorted()).toEqual([project.id, other.id].toSorted());
  const row = await db.db.row(
    `select status, subject, body, suppression, sent_at as "sentAt", mail_reason_text(reason) as error,
       exists (select from email_queue where email_id = e.id) as queued from emails e where id = $1`,
    [caught],
  );
  expect(row).toEqual({
    status: 'SUPPRESSED',
    subject: 'A heron for qa@acme.test',
    body: '<p>Look up.</p>',
    suppression: expect.objectContaining({ kind: 'DOMAIN', pattern: 'acme.test', recipient: 'qa@acme.test' }),
    sentAt: null,
    error: null,
    queued: false,
  });
  expect(await told(project)).toBe(1);
});

test('a campaign sends to everybody but those whom a rule matches', async () => {
  const project = await aProject(db.db);
  await contacts(db.db, project.id, 24);
  await aRule(project, 'PREFIX', 'watcher-1');
  const campaign = await aCampaign(db.db, project);
  const mailer = new FakeMailer({ name: 'campaign rules' });
  await using worker = await testWorker({ activities: campaignActivitiesFor(db.db, mailer), queues: ['campaign'] });
  const start = await started(db.db, project.id, campaign);
  await worker.perform(start);
  await worker.result(start.id);

  // watcher-1 and watcher-10 to watcher-19.
  expect(await ledgerOf(db.db, campaign)).toEqual({ SENT: 13, SUPPRESSED: 11 });
  expect(mailer.recipients).toHaveLength(13);
  expect(mailer.recipients.filter((address) => address.startsWith('watcher-1'))).toEqual([]);
  expect(await campaignRow(db.db, campaign)).toMatchObject({ status: 'SENT', sent: 13, failed: 0 });
  expect(await told(project)).toBe(13);
});
