import { mailPayload } from '../../audience/events/index.ts';
import { type Database, type Query, raw, sql } from '../../core/database/sql.ts';
import type { JsonObjectValue } from '../../core/lib/json.ts';
import { likeText } from '../../core/lib/text.ts';
import { versionSql } from '../ledger/index.ts';
import type { EmailRecord } from './schema.ts';
import {
  formerContent,
  type StoredMail,
  storedMailColumns,
  storedMailColumnsWithoutBody,
  storedMailJoins,
} from './stored-mail.ts';

/** A mail with its outcome, as SQL answers it; instants are Postgres's text. */
export interface EmailRow
  extends StoredMail,
    Pick<
      EmailRecord,
      | 'status'
      | 'templateId'
      | 'campaignId'
      | 'workflowExecutionId'
      | 'error'
      | 'opens'
      | 'clicks'
      | 'scheduledFor'
      | 'heldUntil'
      | 'createdAt'
      | 'sentAt'
    > {}

const outcome = sql`e.status, e.template_id as "templateId", e.campaign_id as "campaignId",
  e.workflow_execution_id as "workflowExecutionId", mail_reason_text(e.reason) as error, e.opens, e.clicks,
  e.scheduled_for::text as "scheduledFor", e.held_until::text as "heldUntil",
  e.created_at::text as "createdAt", e.sent_at::text as "sentAt"`;
const columns = sql`${storedMailColumns}, ${outcome}`;
const listedColumns = sql`${storedMailColumnsWithoutBody}, ${outcome}`;

/** Which mail of a project, below `before`; ids are in the order of their creation. */
export interface EmailSearch {
  projectId: string;
  contactId: string | null;
  tag: { name: string; value: string } | null;
  status: string | null;
  source: string | null;
  /** Words that the subject must have, each as a whole or in part, in any letter case; none for any subject. */
  words: readonly string[];
  /** Bounds of the ids: `first` belongs to it, `before` does not. */
  first: string;
  before: string;
}

/** A page of mail, and the id of the last row that was looked at when there are more to look at. */
export interface FoundEmails {
  rows: EmailRow[];
  lookedUpTo: string | null;
}

// A status that hardly any mail has would otherwise be searched for in all of it.
const mostLookedAt = 20_000;

/** At most `limit` mails, newest first, along the index of the tag, the contact or the project; looks at `look` rows at most. */
export async function findEmails(
  db: Database,
  search: EmailSearch,
  { limit, look = mostLookedAt }: { limit: number; look?: number },
): Promise<FoundEmails> {
  const looked = alongIndex(search, look);
  const patterns = search.words.length === 0 ? null : search.words.map((word) => `%${likeText(word)}%`);
  const found = await db.row<{ ids: string[]; last: string | null; count: number }>(sql`
    with looked as materialized (${looked}),
    matching as (
      select id from looked where (${search.status}::text is null or status = ${search.status}::text)
        and (${search.source}::text is null or source_type = ${search.source}::text)
        and (${search.contactId}::uuid is null or contact_id = ${search.contactId}::uuid)
        and (${patterns}::text[] is null or subject ilike all (${patterns}::text[]))
      order by id desc limit ${limit + 1})
    select coalesce((select array_agg(id order by id desc) from matching), '{}') as ids, count(*)::int as count,
      (select id from looked order by id limit 1) as last
    from looked`);
  if (found === null) throw new Error('Postgres did not answer');
  const ids = found.ids.slice(0, limit);
  const lastShown = found.ids.length > limit ? ids.at(-1) : undefined;
  const rows =
    ids.length === 0
      ? []
      : await db.rows<EmailRow>(
          sql`select ${listedColumns} from ${storedMailJoins} where e.id = any(${ids}::uuid[]) order by e.id desc`,
        );
  return { rows, lookedUpTo: lastShown ?? (found.count === look ? found.last : null) };
}

// There is no index of subjects. Settling a mail writes its subject and changes no indexed column, so Postgres leaves the
// indexes alone (HOT); with one, every mail that is sent would pay for all of them.
function alongIndex(search: EmailSearch, look: number): Query {
  const columns = sql`e.id, e.status, e.source_type, e.contact_id`;
  const looked = inOrderOf(search, look);
  if (search.words.length === 0) return sql`select ${columns}, null as subject from ${looked}`;
  return sql`select ${columns}, coalesce(e.subject, e.render ->> 'subject', former.subject, k.subject) as subject
    from ${looked} left join campaigns k on k.id = e.campaign_id left join ${formerContent}`;
}

function inOrderOf({ projectId, contactId, tag, first, before }: EmailSearch, look: number): Query {
  if (tag !== null)
    return sql`(select email_id from email_tags
        where project_id = ${projectId} and name = ${tag.name} and value = ${tag.value}
          and email_id >= ${first}::uuid and email_id < ${before}::uuid
        order by email_id desc limit ${look}) t join emails e on e.id = t.email_id`;
  const along: Query =
    contactId === null
      ? sql`e.project_id = ${projectId}`
      : sql`e.contact_id = ${contactId} and e.project_id = ${projectId}`;
  return sql`(select e.* from emails e
    where ${along} and e.id >= ${first}::uuid and e.id < ${before}::uuid order by e.id desc limit ${look}) e`;
}

/** A place in the list of scheduled mail. */
export interface DuePlace {
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
  const place =
    after === null ? sql`true` : sql`(q.due_at, q.email_id) > (${after.dueAt}::timestamptz, ${after.id}::uuid)`;
  return db.rows(sql`
    select ${columns}, w.due_at::text as "dueAt" from (
      select q.email_id, q.due_at from email_queue q join emails e on e.id = q.email_id
      where q.project_id = ${projectId} and q.claim_id is null and q.due_at > now() and ${place}
        and (e.scheduled_for is not null or e.held_until is not null)
        and (${contactId}::uuid is null or e.contact_id = ${contactId}::uuid)
      order by q.due_at, q.email_id limit ${limit}) w, ${storedMailJoins}
    where e.id = w.email_id order by w.due_at, e.id`);
}

/** The contact of an address, or null. */
export async function contactOfAddress(db: Database, projectId: string, email: string): Promise<string | null> {
  const row = await db.row<{ id: string }>(
    sql`select id from contacts where project_id = ${projectId} and email = ${email}`,
  );
  return row?.id ?? null;
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

/** One mail of the project, or null. */
export function findEmail(db: Database, projectId: string, id: string): Promise<WholeEmailRow | null> {
  return db.row<WholeEmailRow>(sql`
    select ${columns}, e.headers, e.message_id as "messageId", e.provider, e.suppression,
      (select q.attempts from email_queue q where q.email_id = e.id) as attempts,
      coalesce((select jsonb_object_agg(t.name, t.value) from email_tags t where t.email_id = e.id), '{}') as tags,
      case when e.campaign_id is not null then ${raw(versionSql('e'))} end as "campaignVersion",
      (select r.resend_of from email_resends r where r.email_id = e.id) as "resendOf",
      array(select r.email_id from email_resends r where r.resend_of = e.id order by 1) as resends,
      e.delivered_at::text as "deliveredAt", e.opened_at::text as "openedAt", e.clicked_at::text as "clickedAt",
      e.bounced_at::text as "bouncedAt", e.complained_at::text as "complainedAt", e.updated_at::text as "updatedAt"
    from ${storedMailJoins} where e.project_id = ${projectId} and e.id = ${id}`);
}

/** What happened to a mail: an event without what every event of it says. */
export interface TimelineRow {
  at: string;
  name: string;
  data: JsonObjectValue | null;
}

const mostEvents = 500;

/** The events of a mail, oldest first, at most 500: its contact's index leads to them. */
export function eventsOfEmail(db: Database, { id, contact, createdAt }: WholeEmailRow): Promise<TimelineRow[]> {
  return db.rows<TimelineRow>(sql`
    select v.created_at::text as at, v.name, nullif(v.data - array(
      select jsonb_object_keys(${raw(mailPayload('e', `'tags', null`))})), '{}') as data
    from events v join emails e on e.id = v.email_id
    where v.contact_id = ${contact.id} and v.created_at >= ${createdAt}::timestamptz and v.email_id = ${id}
      and v.name like 'email.%'
    order by v.created_at, v.id limit ${mostEvents}`);
}
