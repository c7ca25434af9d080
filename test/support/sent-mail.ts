import { newId } from '../../src/lib/ids.ts';
import type { Database } from '../../src/store/sql.ts';
import { aContact, aProject, type TestProject } from './delivery-fixtures.ts';

/** A mail in the ledger. */
export interface SentMail {
  id: string;
  project: TestProject;
  contactId: string;
  messageId: string;
  email: string;
  campaignId: string | null;
}

/** What may differ from a mail that was sent, by no campaign, to somebody who is subscribed. */
export interface MailChanges {
  status?: string;
  subscribed?: boolean;
  campaign?: boolean;
  sent?: boolean;
  project?: TestProject;
}

/** A mail that was handed over, to a contact of its own. */
export async function aSentMail(db: Database, changes: MailChanges = {}): Promise<SentMail> {
  const project = changes.project ?? (await aProject(db));
  const id = newId();
  const email = `bob-${id.slice(-12)}@example.com`;
  const contactId = await aContact(db, project.id, email, { subscribed: changes.subscribed ?? true });
  const messageId = `m-${id}`;
  const campaignId = changes.campaign ? newId() : null;
  if (campaignId !== null)
    await db.count(
      `insert into campaigns (id, project_id, name, subject, body, "from", status, audience_type, send_seq)
       values ($1, $2, 'Spring', 'Spring', '<p>Hi</p>', $3, 'SENT', 'ALL', 1)`,
      [campaignId, project.id, project.sender],
    );
  const sent = changes.sent ?? true;
  await db.count(
    `insert into emails (id, project_id, contact_id, to_address, "from", from_name, subject, source_type, message_class,
       campaign_id, send_seq, status, message_id, sent_at)
     values ($1, $2, $3, $4, $5, 'Birdwatch', 'A heron', $6, 'MARKETING', $7, $8, $9, $10, case when $11 then now() end)`,
    [
      id,
      project.id,
      contactId,
      email,
      project.sender,
      campaignId === null ? 'TRANSACTIONAL' : 'CAMPAIGN',
      campaignId,
      campaignId === null ? null : 1,
      changes.status ?? (sent ? 'SENT' : 'PENDING'),
      sent ? messageId : null,
      sent,
    ],
  );
  return { id, project, contactId, messageId, email, campaignId };
}
