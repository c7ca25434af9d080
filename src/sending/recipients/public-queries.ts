import { flipEvents, leftBefore } from '../../audience/contacts/index.ts';
import { type Sql, statement } from '../../core/database/sql.ts';

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

const find = statement(
  'contacts.public',
  `select c.id, c.project_id as "projectId", c.email, c.subscribed, p.name as "projectName",
     p.language as "projectLanguage",
     case jsonb_typeof(c.data -> 'locale') when 'string' then c.data ->> 'locale' end as locale
   from contacts c join projects p on p.id = c.project_id where c.id = $1`,
);

/** A contact by its id alone, whatever its project, or null. */
export function findPublicContact(sql: Sql, id: string): Promise<PublicContactRow | null> {
  return sql.row<PublicContactRow>(find, [id]);
}

// A recipient counts once for each campaign, however often they leave and come back.
const change = statement(
  'contacts.change_own',
  `with mail as (
     select id, campaign_id from emails where id = $4::uuid and contact_id = $1),
   changed as (
     update contacts c set subscription_before = c.subscribed, subscribed = $2, updated_at = now()
     where c.id = $1 and c.subscribed <> $2
     returning c.id, c.project_id, c.subscribed),
   flip as (
     ${flipEvents({ id: '$3', emailId: '(select id from mail)', from: 'changed flipped' })}),
   counted as (
     update campaigns set unsubscribed_count = unsubscribed_count + 1
     from changed, mail
     where not $2 and campaigns.id = mail.campaign_id and not exists (
       ${leftBefore('$1', 'mail.campaign_id')}))
   select 1 from changed`,
);

/**
 * Subscribes or unsubscribes a contact who asked for it; a change is recorded as an event in the same statement, tied to
 * the mail it came from when that mail is the contact's. Answers whether anything changed.
 */
export async function changeOwnSubscription(
  sql: Sql,
  contactId: string,
  subscribed: boolean,
  eventId: string,
  emailId: string | null,
): Promise<boolean> {
  return (await sql.row(change, [contactId, subscribed, eventId, emailId])) !== null;
}
