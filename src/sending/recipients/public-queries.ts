import { contactsAndTrash, contactsWritten, leftBefore, writingAs } from '../../audience/contacts/index.ts';
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
  const writing = writingAs(db, 'page', emailId);
  const row = sql`jsonb_build_array(jsonb_build_object('id', ${contactId}::uuid, 'subscribed', ${subscribed}::boolean,
    'flipId', ${eventId}::uuid, 'flipEmailId', (select id from mail)))`;
  // A recipient counts once for each campaign, however often they leave and come back.
  const changed = await db.row(sql`
    with mail as (
      select id, campaign_id from emails where id = ${emailId}::uuid and contact_id = ${contactId}::uuid),
    changed as materialized (
      select w.id, w.subscribed
      from (select project_id from contacts where id = ${contactId}::uuid) owner, ${contactsWritten(raw('owner.project_id'), row, writing)} w
      where w.changed),
    trashed as (
      update contacts_trash set subscribed = ${subscribed}
      where id = ${contactId}::uuid and subscribed <> ${subscribed} returning 1),
    counted as (
      update campaigns set unsubscribed_count = unsubscribed_count + 1
      from changed, mail
      where not changed.subscribed and campaigns.id = mail.campaign_id and not exists (
        ${raw(leftBefore('changed.id', 'mail.campaign_id'))}))
    select 1 from changed union all select 1 from trashed`);
  return changed !== null;
}
