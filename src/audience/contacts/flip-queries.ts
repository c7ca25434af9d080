/** Where the contacts whose subscription has flipped come from, and what their events are given. All of it is SQL text. */
export interface FlipSource {
  /** What follows `from`: rows with `id`, `project_id` and `subscribed` of the changed contacts. */
  from: string;
  /** Which of the rows have flipped; all of them when absent. */
  where?: string;
  /** Id of the event; made by the database when absent. */
  id?: string;
  /** The mail that led to the change. */
  emailId?: string;
  /** Data of the event; none when absent. */
  data?: string;
  /** The key whose limits hold for what the event starts; none when absent. */
  limitedBy?: string;
}

/**
 * The statement that records changes of subscriptions as events, for a common table expression of the statement that makes
 * the change: requests, imports, jobs and links all write the events of
 * subscription changes by it, so that a change and its one event are committed together.
 */
export function flipEvents({
  from,
  where,
  id = 'uuidv7()',
  emailId = 'null::uuid',
  data = 'null::jsonb',
  limitedBy = 'null::uuid',
}: FlipSource): string {
  return `insert into events (id, project_id, contact_id, email_id, data, limited_by, name)
    select ${id}, flipped.project_id, flipped.id, ${emailId}, ${data}, ${limitedBy},
      case when flipped.subscribed then 'contact.subscribed' else 'contact.unsubscribed' end
    from ${from}${where === undefined ? '' : ` where ${where}`}`;
}

/**
 * SQL of a query that answers a row when the contact has left by a mail of the campaign before: a recipient counts once in
 * `unsubscribed_count`, however often they leave and come back. Both are SQL expressions.
 */
export function leftBefore(contact: string, campaign: string): string {
  return `select from events ev join emails em on em.id = ev.email_id
    where ev.contact_id = ${contact} and ev.name = 'contact.unsubscribed' and ev.data ->> 'reason' is null
      and em.campaign_id = ${campaign}`;
}

/** `limitedBy` of the changes that a job makes: the cause of its transaction names the job. */
export const limitedByJob = `(select j.limited_by from jobs j where j.id = current_setting('fernpost.cause', true))`;
