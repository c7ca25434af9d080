import { usageMoved } from '../../billing/daily-queries.ts';
import { Contact } from '../../contacts/entity.ts';
import { eventData, mailPayload } from '../../contacts/events/queries.ts';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import { leastId } from '../../lib/ids.ts';
import { type Database, type Query, raw, sql } from '../../store/sql.ts';
import { countingUnsent, endedColumns } from '../ledger/counting.ts';
import { withoutBytes } from '../ledger/queries.ts';
import { versionSql } from '../ledger/reasons.ts';
import type { MailStatus } from '../status.ts';
import type { EmailRecord } from './schema.ts';
import { type StoredMail, storedMailColumns, storedMailJoins } from './stored-mail.ts';

/** A mail with its outcome, as SQL answers it; instants are Postgres's text. */
export interface EmailRow
  extends StoredMail,
    Pick<
      EmailRecord,
      | 'status'
      | 'templateId'
      | 'campaignId'
      | 'workflowExecutionId'
      | 'sender'
      | 'error'
      | 'errorCode'
      | 'opens'
      | 'clicks'
      | 'scheduledFor'
      | 'heldUntil'
      | 'createdAt'
      | 'sentAt'
    > {}

/**
 * The columns of `EmailRow`, from `storedMailJoins`; the body is empty without `withBody`. The event of received mail is written with its
 * row, at the same instant: the index of its contact leads to it.
 */
export const emailColumns = (withBody: boolean) => sql`${storedMailColumns(withBody)}, e.status,
  case when e.source_type = 'INBOUND' then coalesce(
    (select v.data -> 'sender' from events v where v.contact_id = e.contact_id and v.created_at = e.created_at
      and v.email_id = e.id and v.name = 'email.received'), jsonb_build_object('email', c.email, 'name', null)) end as sender,
  e.template_id as "templateId", e.campaign_id as "campaignId",
  e.workflow_execution_id as "workflowExecutionId", mail_reason_text(e.reason) as error,
  e.reason ->> 'code' as "errorCode", e.opens, e.clicks,
  e.scheduled_for::text as "scheduledFor", e.held_until::text as "heldUntil",
  e.created_at::text as "createdAt", e.sent_at::text as "sentAt"`;

/** A place in the list of scheduled mail. */
interface DuePlace {
  dueAt: string;
  id: string;
}

/** Mail that waits for the time its sender chose, the next to leave first. */
export function findScheduled(
  db: Database,
  {
    projectId,
    contactId,
    after,
    limit,
  }: { projectId: string; contactId: string | null; after: DuePlace | null; limit: number },
): Promise<(EmailRow & Pick<DuePlace, 'dueAt'>)[]> {
  const { dueAt, id } = after ?? { dueAt: '-infinity', id: leastId };
  return db.rows(sql`
    select ${emailColumns(false)}, w.due_at::text as "dueAt" from (
      select q.email_id, q.due_at from email_queue q join emails e on e.id = q.email_id
      where q.project_id = ${projectId} and q.claim_id is null and q.due_at > now()
        and (q.due_at, q.email_id) > (${dueAt}::timestamptz, ${id}::uuid)
        and (e.scheduled_for is not null or e.held_until is not null)
        and (${contactId}::uuid is null or e.contact_id = ${contactId}::uuid)
      order by q.due_at, q.email_id limit ${limit}) w, ${storedMailJoins}
    where e.id = w.email_id order by w.due_at, e.id`);
}

/** The contact of an address, or null. */
export async function contactOfAddress(db: Database, projectId: string, email: string): Promise<string | null> {
  const contact = await db.em.findOne(Contact, { projectId, email }, { fields: ['id'] });
  return contact?.id ?? null;
}

/** A mail with everything that its row says. */
export interface WholeEmailRow
  extends EmailRow,
    Pick<
      EmailRecord,
      | 'headers'
      | 'messageId'
      | 'provider'
      | 'attempts'
      | 'lastRefusal'
      | 'suppression'
      | 'deliveredAt'
      | 'openedAt'
      | 'clickedAt'
      | 'bouncedAt'
      | 'complainedAt'
      | 'tags'
      | 'campaignVersion'
      | 'resendOf'
      | 'resends'
    > {
  /** The last change of its row. */
  updatedAt: string;
}

/** One mail of the project, or null; its body is empty without `withBody`. */
export function findEmail(
  db: Database,
  projectId: string,
  id: string,
  withBody: boolean,
): Promise<WholeEmailRow | null> {
  return db.row<WholeEmailRow>(sql`
    select ${emailColumns(withBody)}, e.headers, e.message_id as "messageId", e.provider, e.suppression,
      q.attempts, q.last_refusal as "lastRefusal",
      coalesce((select jsonb_object_agg(t.name, t.value) from email_tags t where t.email_id = e.id), '{}') as tags,
      case when e.campaign_id is not null then ${raw(versionSql('e'))} end as "campaignVersion",
      (select r.resend_of from email_resends r where r.email_id = e.id) as "resendOf",
      array(select r.email_id from email_resends r where r.resend_of = e.id order by 1) as resends,
      e.delivered_at::text as "deliveredAt", e.opened_at::text as "openedAt", e.clicked_at::text as "clickedAt",
      e.bounced_at::text as "bouncedAt", e.complained_at::text as "complainedAt", e.updated_at::text as "updatedAt"
    from ${storedMailJoins} left join email_queue q on q.email_id = e.id where e.project_id = ${projectId} and e.id = ${id}`);
}

/** An event of a mail, without the data that all its events share. */
export interface TimelineRow {
  at: string;
  name: string;
  data: JsonObjectValue | null;
}

const mostEvents = 500;

/**
 * The events of a mail, oldest first, at most 500: its contact's index leads to them. With both ends Postgres expects few of them without knowing the
 * instant, and keeps its plan; with one it expects a third of all that the contact has, and plans each call anew.
 */
export function eventsOfEmail(db: Database, { id, contact, createdAt }: WholeEmailRow): Promise<TimelineRow[]> {
  return db.rows<TimelineRow>(sql`
    select v.created_at::text as at, v.name, nullif(${raw(eventData('v'))} - 'tags' - array(
      select jsonb_object_keys(${raw(mailPayload('e'))})), '{}') as data
    from events v join emails e on e.id = v.email_id
    where v.contact_id = ${contact.id} and v.created_at >= ${createdAt}::timestamptz and v.created_at < timestamptz 'infinity'
      and v.email_id = ${id} and v.name like 'email.%'
    order by v.created_at, v.id limit ${mostEvents}`);
}

// Mail that nobody has claimed. A claim and this wait for each other's row lock, so that one of the two finds it.
const unclaimed = raw(`claim_id is null
  and exists (select from emails e where e.id = email_id and e.status in ('PENDING', 'SENDING') and e.sent_at is null)`);
const itself = (projectId: string, id: string): Query => sql`email_id = ${id} and project_id = ${projectId}`;

/**
 * Common table expressions that take mail out of the queue, where nobody has claimed it, and give back its quota: `cancelled` has the rows. `which`
 * is a condition on `email_queue`, `reason` is JSON. Locks usage, which comes before contacts.
 */
export function cancellingMail(which: Query, reason: string): Query {
  return sql`
    dequeued as (delete from email_queue where ${which} and ${unclaimed} returning email_id),
    cancelled as (
      update emails e set status = 'CANCELLED', reason = ${reason}, updated_at = now(),
        attachments = ${raw(withoutBytes('e.attachments'))}
      where e.id = any(array(select email_id from dequeued)) and e.status in ('PENDING', 'SENDING')
      returning ${raw(endedColumns)}),
    ${raw(usageMoved('cancelled', 'false', 'true'))},
    uncounted as (${countingUnsent('cancelled', 'CANCELLED')})`;
}

/** Takes a mail out of the queue and gives back its quota. False when it is not there any more. */
export async function cancelQueued(db: Database, projectId: string, id: string): Promise<boolean> {
  const row = await db.row<{ count: number }>(sql`
    with ${cancellingMail(itself(projectId, id), '{"code": "cancelled"}')} select count(*)::int as count from cancelled`);
  return row?.count === 1;
}

/**
 * Sends a mail of the queue at another time, or (null) now. Attempts count from then on, as for mail that is new. False
 * when it is not there any more.
 */
export async function moveQueued(db: Database, projectId: string, id: string, at: Date | null): Promise<boolean> {
  const when = at?.toISOString() ?? null;
  const moved = await db.count(sql`
    with moved as (
      update email_queue set due_at = coalesce(${when}::timestamptz, now()), created_at = coalesce(${when}::timestamptz, now())
      where ${itself(projectId, id)} and ${unclaimed} returning email_id)
    update emails set scheduled_for = ${when}::timestamptz, held_until = null, updated_at = now()
    where id = any(array(select email_id from moved))`);
  return moved === 1;
}

/** A mail, and whether it is in the queue. */
interface LeftMail {
  status: MailStatus;
  isClaimed: boolean;
  campaignId: string | null;
  from: string;
  to: string;
}

/** Returns the state of a mail of the project; null when there is none. */
export function findLeft(db: Database, projectId: string, id: string): Promise<LeftMail | null> {
  return db.row<LeftMail>(sql`
    select status, campaign_id as "campaignId", "from", to_address as "to",
      exists (select from email_queue q where q.email_id = e.id) as "isClaimed"
    from emails e where project_id = ${projectId} and id = ${id}`);
}
