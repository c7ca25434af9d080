import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  aCampaign,
  campaignActivitiesFor,
  campaignRow,
  contacts,
  ledgerOf,
  started,
} from '../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aContact, aProject } from '../support/delivery-fixtures.ts';
import { FakeMailer } from '../support/mailer.ts';
import { testWorker } from '../support/worker.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.close());

test('a campaign reaches every subscribed contact once, through an outage and a double start', async () => {
  const project = await aProject(db.db);
  await contacts(db.db, project.id, 24);
  await aContact(db.db, project.id, 'left@example.com', { subscribed: false });
  const campaign = await aCampaign(db.db, project);
  const mailer = new FakeMailer({ outages: 2, name: 'outage' });
  await using worker = await testWorker({ activities: campaignActivitiesFor(db.db, mailer), queues: ['campaign'] });
  const start = await started(db.db, project.id, campaign);
  await worker.perform(start);
  await worker.perform(start);

  expect(await worker.result(start.id)).toMatchObject({ status: 'SENT', sent: 24, failed: 0 });
  expect(new Set(mailer.recipients).size).toBe(24);
  expect(mailer.recipients).toHaveLength(24);
  expect(mailer.recipients).not.toContain('left@example.com');
  for (const { to, subject, html, text, headers } of mailer.sent) {
    const name = to.address.replace('watcher-', 'Name').replace('@example.com', '');
    expect(subject).toBe(`Hello ${name}`);
    expect(html).toContain(`Dear ${name}, the herons`);
    expect(text).toContain(`Dear ${name}, the herons`);
    expect(headers.map((header) => header.name)).toContain('List-Unsubscribe');
  }
  expect(await campaignRow(db.db, campaign)).toMatchObject({ status: 'SENT', total: 24, sent: 24, failed: 0 });
  expect(await ledgerOf(db.db, campaign)).toEqual({ SENT: 24 });
  const events = await db.db.row<{ count: number; emails: number }>(
    `select count(*)::int as count, count(distinct email_id)::int as emails from events where project_id = $1 and name = 'email.sent'`,
    [project.id],
  );
  expect(events).toEqual({ count: 24, emails: 24 });
});
