import { badRequest } from '../../lib/errors.ts';
import { firstIdAt } from '../../lib/ids.ts';
import { likeText } from '../../lib/text.ts';
import { dateParameter, dayMs } from '../../lib/time.ts';
import { type Database, join, type Query, sql, unprepared } from '../../store/sql.ts';
import { mailSources, newestMail, walkedColumns } from '../ledger/queries.ts';
import { MailStatus } from '../status.ts';
import { contactOfAddress, type EmailRow, emailColumns } from './queries.ts';
import type { EmailFilters } from './schema.ts';
import { formerContent, storedMailJoins } from './stored-mail.ts';

const longestSpanDays = 31;

/**
 * The search that the filters of a request ask for; null where nobody can match. Mail of one person or tag is searched whole, other
 * mail in a span of at most 31 days. `isScheduled` needs neither.
 * @throws 400 for a search without a person, tag or span, or what is no date
 */
export async function emailSearch(
  db: Database,
  projectId: string,
  query: EmailFilters,
  now: Date,
  isScheduled = false,
): Promise<EmailSearch | null> {
  const from = dateParameter('from', query.from);
  const until = dateParameter('until', query.until) ?? now;
  const isNarrow = isScheduled || query.contactId !== undefined || query.to !== undefined || query.tag !== undefined;
  if (!isNarrow && (from === null || until.getTime() - from.getTime() > longestSpanDays * dayMs))
    throw badRequest(
      `Name "contactId", "to" or "tag", or a span of at most ${longestSpanDays} days with "from" (and "until")`,
      { field: 'from' },
    );
  const contactId =
    query.to === undefined ? (query.contactId ?? null) : await contactOfAddress(db, projectId, query.to);
  if (query.to !== undefined && (contactId === null || (query.contactId ?? contactId) !== contactId)) return null;
  return {
    projectId,
    contactId,
    tag: query.tag === undefined ? null : tagOf(query.tag),
    status: query.status ?? null,
    source: query.source ?? null,
    words: (query.subject ?? '').split(/\s+/u).filter((word) => word !== ''),
    // Ids carry the instant they were made at, a moment before their row.
    first: firstIdAt(from ?? new Date(0)),
    before: firstIdAt(query.until === undefined ? new Date(now.getTime() + dayMs) : until),
  };
}

function tagOf(tag: string): { name: string; value: string } {
  const colon = tag.indexOf(':');
  if (colon < 1) throw badRequest('"tag" is not "name:value"', { field: 'tag' });
  return { name: tag.slice(0, colon), value: tag.slice(colon + 1) };
}

/** Which mail of a project, below `before`; ids are in the order of their creation. */
export interface EmailSearch {
  projectId: string;
  contactId: string | null;
  tag: { name: string; value: string } | null;
  status: MailStatus | null;
  source: string | null;
  /** Words that the subject must have, each as a whole or in part, in any letter case; none for any subject. */
  words: readonly string[];
  /** Bounds of the ids: `first` belongs to it, `before` does not. */
  first: string;
  before: string;
}

/** A page of mail, and the id of the last row that was looked at when there are more to look at. */
interface FoundEmails {
  rows: EmailRow[];
  lookedUpTo: string | null;
}

/**
 * Rows that a page looks at where no index answers its whole filter: mail of a contact, a tag or a span that hardly ever has the status
 * or source would otherwise be read from end to end.
 */
const mostLookedAt = 5_000;

/** At most `limit` mails, newest first, along the index of their tag, contact, status or source; looks at `look` rows at most. */
export async function findEmails(
  db: Database,
  search: EmailSearch,
  { limit, look = mostLookedAt }: { limit: number; look?: number },
): Promise<FoundEmails> {
  const along = await alongIndex(db, search, look);
  const { status, source, contactId } = search;
  const words = search.words.map((word) => `%${likeText(word)}%`);
  // A plan for any values would read and sort a whole span, because it cannot know how few rows are wanted. There is no index of subjects:
  // settling a mail writes its subject and changes no indexed column, so Postgres leaves the indexes alone (HOT); with one, every mail
  // that is sent would pay for all of them.
  const matching = await db.rows<{ id: string }>(
    unprepared(sql`
    select id from (select * from (${along}) mail order by id desc limit ${look}) looked
    where (${status}::text is null or status = ${status}::text) and (${source}::text is null or source_type = ${source}::text)
      and (${contactId}::uuid is null or contact_id = ${contactId}::uuid)
      and (cardinality(${words}::text[]) = 0 or (
        select coalesce(e.subject, e.render ->> 'subject', former.subject, k.subject)
        from emails e left join campaigns k on k.id = e.campaign_id left join ${formerContent}
        where e.id = looked.id) ilike all (${words}::text[]))
    order by id desc limit ${limit + 1}`),
  );
  const ids = matching.slice(0, limit).map(({ id }) => id);
  const rows =
    ids.length === 0
      ? []
      : await db.rows<EmailRow>(
          sql`select ${emailColumns(false)} from ${storedMailJoins} where e.id = any(${ids}::uuid[]) order by e.id desc`,
        );
  if (matching.length > limit) return { rows, lookedUpTo: ids.at(-1) ?? null };
  const last = await db.row<{ id: string }>(
    unprepared(sql`select id from (${along}) mail order by id desc offset ${look - 1} limit 1`),
  );
  return { rows, lookedUpTo: last?.id ?? null };
}

// Mail with one of these is found along that of the project: there are few of them, or nearly all mail has it.
const withoutIndex: readonly MailStatus[] = [
  MailStatus.PENDING,
  MailStatus.SENDING,
  MailStatus.SENT,
  MailStatus.DELIVERED,
  MailStatus.RECEIVED,
];

async function alongIndex(db: Database, search: EmailSearch, look: number): Promise<Query> {
  const { projectId, contactId, tag, status, source, first, before } = search;
  if (tag !== null)
    return sql`select ${walkedColumns} from email_tags t join emails e on e.id = t.email_id
      where t.project_id = ${projectId} and t.name = ${tag.name} and t.value = ${tag.value}
        and t.email_id >= ${first}::uuid and t.email_id < ${before}::uuid`;
  // Each is the condition of a partial index by id. No index can name the status: each change of it would then write all indexes.
  if (contactId !== null || (status !== null && !withoutIndex.includes(status)))
    return sql`select ${walkedColumns} from emails e
      where e.project_id = ${projectId} and e.id >= ${first}::uuid and e.id < ${before}::uuid and case
        when ${contactId}::uuid is not null then e.contact_id = ${contactId}::uuid
        when ${status}::text = 'FAILED' then e.reason is not null and e.bounced_at is null
        when ${status}::text = 'CANCELLED' then e.reason = '{"code": "cancelled"}'::jsonb
        when ${status}::text = 'SUPPRESSED' then e.suppression is not null
        when ${status}::text = 'BOUNCED' then e.bounced_at is not null
        when ${status}::text = 'COMPLAINED' then e.complained_at is not null
        when ${status}::text = 'OPENED' then e.opened_at is not null
        when ${status}::text = 'CLICKED' then e.clicked_at is not null end`;
  if (status === MailStatus.PENDING || status === MailStatus.SENDING) return waiting(db, search, look);
  const sources = status === MailStatus.RECEIVED ? ['INBOUND'] : source === null ? mailSources : [source];
  return newestMail({ projectId, sources, first, before, limit: look });
}

/** Mail that is not settled: what is in the queue, and what campaigns created since the oldest send that is not over. */
async function waiting(db: Database, { projectId, first, before }: EmailSearch, look: number): Promise<Query> {
  const queued = sql`(
    select ${walkedColumns} from email_queue q join emails e on e.id = q.email_id
    where q.project_id = ${projectId} and e.id >= ${first}::uuid and e.id < ${before}::uuid order by e.id desc limit ${look})`;
  const open = await db.row<{ since: string | null }>(sql`
    select (extract(epoch from min(created_at)) * 1000)::bigint::text as since
    from campaign_sends where not closed and project_id = ${projectId}`);
  if (open === null || open.since === null) return queued;
  const since = firstIdAt(new Date(Number(open.since) - 60_000));
  const range = { projectId, sources: ['CAMPAIGN'], first: since > first ? since : first, before, limit: mostLookedAt };
  return join([queued, newestMail(range)], ' union all ');
}
