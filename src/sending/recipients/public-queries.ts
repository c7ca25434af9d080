import { because, contactsAndTrash, flipEvents, leftBefore } from '../../audience/contacts/index.ts';
import { recordingEvents } from '../../core/database/record-events.ts';
import { type Database, raw, sql } from '../../core/database/sql.ts';

/** What a recipient's own pages know of them. */
export interface PublicContactRow {
  id: string;
  projectId: string;
  email: string;
  subscribed: boolean;
  /** `locale` of the contact's data, or null. */
  locale: string | null;
  projectName: string;
  /** The language of the project. */
  projectLanguage: string;
}

/** A contact by its id alone, whatever its project, or null. */
export function findPublicContact(db: Database, id: string): Promise<PublicContactRow | null> {
  return db.row(sql`
    select c.id, c.project_id as "projectId", c.email, c.subscribed, p.name as "projectName",
      p.language as "projectLanguage",
      case jsonb_typeof(c.data -> 'locale') when 'string' then c.data ->> 'locale' end as locale
    from ${contactsAndTrash} c join projects p on p.id = c.project_id where c.id = ${id}`);
}

/**
 * Subscribes or unsubscribes a contact who asked for it; a change is recorded as an event in the same statement, tied to
 * the mail it came from when that mail is the contact's. A contact in the trash has left, or come back, when it is restored. Answers
 * whether anything changed.
 */
export async function changeOwnSubscription(
  db: Database,
  contactId: string,
  subscribed: boolean,
  eventId: string,
  emailId: string | null,
): Promise<boolean> {
  // A recipient counts once for each campaign, however often they leave and come back.
  const given = sql`
    mail as (
      select id, campaign_id from emails where id = ${emailId}::uuid and contact_id = ${contactId}::uuid),
    changed as (
      update contacts c set subscription_before = c.subscribed, subscribed = ${subscribed}, updated_at = now()
      where c.id = ${contactId}::uuid and c.subscribed <> ${subscribed} and ${because(db, 'page', emailId)}
      returning c.id, c.project_id, c.subscribed, ${eventId}::uuid as event_id),
    trashed as (
      update contacts_trash set subscribed = ${subscribed}
      where id = ${contactId}::uuid and subscribed <> ${subscribed} returning 1),
    counted as (
      update campaigns set unsubscribed_count = unsubscribed_count + 1
      from changed, mail
      where not changed.subscribed and campaigns.id = mail.campaign_id and not exists (
        ${raw(leftBefore('changed.id', 'mail.campaign_id'))})
      returning 1)`;
  // Events come last, as everywhere: after the campaign's counter.
  const events = flipEvents({
    id: 'flipped.event_id',
    emailId: '(select id from mail)',
    from: 'changed flipped',
    where: '(select count(*) from counted) >= 0',
  });
  const result = sql`select 1 from changed union all select 1 from trashed`;
  return (await db.row(recordingEvents({ given, events, result }))) !== null;
}
