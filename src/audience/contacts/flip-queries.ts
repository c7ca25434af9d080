import { newEvent } from '../../core/database/record-events.ts';
import { type Query, raw, sql } from '../../core/database/sql.ts';

/** Where the contacts whose subscription has flipped come from, and what their events are given. All of it is SQL text, but for the key. */
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
  limitedBy?: Query | string | null;
}

/**
 * The events of changed subscriptions, for the statement that makes the change (`recordingEvents`): requests, imports, jobs and links all
 * write them by it, so that a change and its one event are committed together.
 */
export function flipEvents({ from, where = 'true', id, emailId, data, limitedBy }: FlipSource): Query {
  const event = newEvent({
    ...(id === undefined ? {} : { id: raw(id) }),
    projectId: raw('flipped.project_id'),
    contactId: raw('flipped.id'),
    emailId: part(emailId),
    name: raw(`case when flipped.subscribed then 'contact.subscribed' else 'contact.unsubscribed' end`),
    data: part(data),
    limitedBy: limitedBy ?? null,
  });
  return sql`select ${event} from ${raw(from)} where ${raw(where)}`;
}

const part = (text: string | undefined) => (text === undefined ? null : raw(text));

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
export const limitedByJob = raw(
  `(select j.limited_by from jobs j where j.id = current_setting('fernpost.cause', true))`,
);
