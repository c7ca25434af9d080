import { eventData, mostListedEventBytes } from '../../contacts/events/queries.ts';
import { mostContactBytes } from '../../contacts/limits.ts';
import { contactsAndTrash } from '../../contacts/trash-queries.ts';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import { firstIdAt, leastId } from '../../lib/ids.ts';
import { dayMs, hourMs } from '../../lib/time.ts';
import { jsonWithin } from '../../store/heavy-reads.ts';
import { type Database, join, type Query, raw, sql } from '../../store/sql.ts';
import { type Bound, type Source, sources } from './types.ts';

/** Items on a page at most. */
export const longestPage = 100;

/** The mail of an item, with what rendering its body needs. */
interface ItemMail {
  subject: string | null;
  body: string | null;
  rendered: boolean;
  from: string;
  fromName: string | null;
  replyTo: string | null;
  toName: string | null;
  toAddress: string;
  sourceType: 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW' | 'INBOUND';
  messageClass: 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS';
  data: JsonObjectValue | null;
  contact: { subscribed: boolean; data: JsonObjectValue };
  error: string | null;
  errorCode: string | null;
  /** Name of the rule that suppressed it. */
  suppressedBy: string | null;
  opens: number;
  clicks: number;
  campaignName: string | null;
  workflowName: string | null;
  createdAt: string;
}

/** An item of the feed; one of the last two is set. */
export interface FeedRow {
  /** Place in `sources`. */
  source: number;
  id: string;
  /** The row's own id. */
  uuid: string;
  at: string;
  contactId: string | null;
  contactEmail: string | null;
  mail: ItemMail | null;
  /** The `metadata` of an item that is not about mail. */
  facts: JsonObjectValue | null;
}

/** A request for a page. `bounds` and `asked` have one entry for each of `sources`. */
export interface FeedPageRequest {
  contactId: string | null;
  /** The first instant that belongs to the feed; `-infinity` for no such. */
  from: string;
  bounds: readonly Bound[];
  asked: readonly boolean[];
  limit: number;
}

// Each source has its newest rows read by an index of its own order, so that a page costs the same at any depth
// and in a table of any size. A source that is not asked for is not read. Mail sent to one contact has no such index, which would cost every message
// of every campaign: it is found among the contact's events of a span that is short, else in the ledger, by all mail that the contact got. What a rule
// has caught has the IDs of its time.
function keysOf(source: Source, projectId: string, { contactId, from, bounds, asked }: FeedPageRequest): Query {
  const place = sources.indexOf(source);
  const ofContact = contactId !== null;
  const isSent = ofContact && source.event === 'email.sent';
  const since = isSent ? recordedSince(from) : null;
  const [table, at, id, contact] = keyColumns(source, isSent && since === null);
  // With both ends of an instant Postgres expects few rows without knowing where they lie, and keeps its plan.
  const [bounded, least] =
    since !== null
      ? [`e.created_at < 'infinity' and e.created_at`, since]
      : ofContact && source.rows === 'suppressed'
        ? ['e.id', firstMailSince(from)]
        : [`''`, ''];
  const named =
    source.rows === 'suppressed'
      ? ' and e.suppression is not null'
      : table === 'events' && source.event !== null
        ? ` and e.name = '${source.event}'`
        : '';
  const until = bounds[place]?.at?.toISOString() ?? 'infinity';
  return sql`(select ${raw(place)} as source, ${raw(at)} as at, ${raw(id)} as id, ${raw(contact)} as contact_id,
      ${raw(`'${source.prefix}' || ${id} || '${source.suffix}'`)} as item
    from ${raw(table)} e
    where ${asked[place]}::boolean and ${raw(ofContact ? 'e.contact_id' : 'e.project_id')} = ${contactId ?? projectId}::uuid${raw(named)}
      and ${raw(bounded)} >= ${least}
      and ${raw(at)} >= ${from}::timestamptz and ${raw(at)} <= ${until}::timestamptz
      and (${raw(at)}, ${raw(id)}) < (${until}::timestamptz, ${bounds[place]?.uuid}::uuid)
    order by ${raw(at)} desc, ${raw(id)} desc limit ${raw(longestPage + 1)})`;
}

/**
 * Where all events since the ISO instant `from` are there, wherever events have an end (EVENT_RETENTION_DAYS is 31 at least): since when those are recorded
 * that happened from then on, by a clock that may be fast. Else null.
 */
export function recordedSince(from: string): string | null {
  const instant = Date.parse(from);
  return instant >= Date.now() - 31 * dayMs ? new Date(instant - hourMs).toISOString() : null;
}

/** The least ID of mail that was accepted at this ISO instant or later; of all mail where there is no such. */
export function firstMailSince(from: string): string {
  // An ID is made before its row, by another clock.
  const instant = Date.parse(from) - dayMs;
  return instant > 0 ? firstIdAt(new Date(instant)) : leastId;
}

function keyColumns(
  { rows, event, at }: Source,
  inLedger: boolean,
): [table: string, at: string, id: string, contact: string] {
  if (rows === 'campaigns') return ['campaigns', 'e.sent_at', 'e.id', 'null::uuid'];
  if (rows === 'suppressed') return ['emails', 'e.created_at', 'e.id', 'e.contact_id'];
  if (rows === 'runs') return ['automation_runs', `e.${at}`, 'e.id', 'e.contact_id'];
  if (event === null) return ['events', 'e.created_at', 'e.id', 'e.contact_id'];
  return inLedger
    ? ['emails', 'e.sent_at', 'e.id', 'e.contact_id']
    : ['events', 'e.mail_at', 'e.email_id', 'e.contact_id'];
}

const mailFacts = raw(`jsonb_build_object('subject', coalesce(m.subject, m.render ->> 'subject', k.subject),
  'body', coalesce(m.render ->> 'body', m.body, k.body), 'rendered', m.render is null and m.body is not null,
  'from', m."from", 'fromName', m.from_name, 'replyTo', m.reply_to, 'toName', m.to_name, 'toAddress', m.to_address,
  'sourceType', m.source_type, 'messageClass', m.message_class, 'data', m.render -> 'data',
  'contact', jsonb_build_object('subscribed', coalesce((m.render ->> 'subscribed')::boolean, c.subscribed),
    'data', coalesce(m.render -> 'contact', ${jsonWithin('c.data', mostContactBytes)}, '{}')),
  'error', mail_reason_text(m.reason), 'errorCode', m.reason ->> 'code', 'suppressedBy', m.suppression ->> 'name', 'opens', m.opens, 'clicks', m.clicks, 'campaignName', k.name,
  'workflowName', a.name, 'createdAt', m.created_at)`);
const eventFacts = raw(`jsonb_build_object('eventName', e.name, 'eventData',
  case when e.data is null then ${eventData('e')} else ${jsonWithin('e.data', mostListedEventBytes)} end)`);

const places = (...rows: Source['rows'][]) =>
  raw(sources.flatMap((source, place) => (rows.includes(source.rows) ? [place] : [])).join(', '));
const [mails, campaigns, runs] = [places('mail', 'suppressed'), places('campaigns'), places('runs')];

/** The newest items below the bounds, in the order of the feed. */
export function feedPage(db: Database, projectId: string, request: FeedPageRequest): Promise<FeedRow[]> {
  const { contactId, limit } = request;
  const ofProject = contactId === null;
  const keys = sources
    .filter(({ rows }) => ofProject || rows !== 'campaigns')
    .map((source) => keysOf(source, projectId, request));
  // Rows of a contact belong to its project, so that the contact alone has to be checked.
  return db.rows<FeedRow>(sql`
    with contact as materialized (select id from contacts where id = ${contactId}::uuid and project_id = ${projectId})
    select i.source, i.item as id, i.id as uuid, i.at::text as at, i.contact_id as "contactId", c.email as "contactEmail",
      case when m.id is not null then ${mailFacts} end as mail,
      case
        when e.id is not null then ${eventFacts}
        when i.source in (${campaigns}) then jsonb_build_object('campaignName', k.name, 'subject', k.subject,
          'totalRecipients', k.total_recipients, 'segmentName', s.name, 'audienceType', k.audience_type)
        when r.id is not null and m.id is null then jsonb_build_object('workflowId', a.id, 'workflowName', a.name, 'status', r.status,
          'exitReason', r.exit_reason) end as facts
    from (
      select * from (${join(keys, ' union all ')}) found where ${ofProject}::boolean or exists (select from contact)
      order by at desc, item collate "C" desc limit ${limit}::int) i
      left join events e on i.source = 0 and e.id = i.id
      left join emails m on i.source in (${mails}) and m.id = i.id
      left join campaigns k on k.id = case when i.source in (${campaigns}) then i.id else m.campaign_id end
      left join segments s on i.source in (${campaigns}) and s.id = k.segment_id
      left join automation_runs r on r.id = case when i.source in (${runs}) then i.id else m.workflow_execution_id end
      left join automations a on a.id = r.automation_id
      left join ${contactsAndTrash} c on c.id = i.contact_id
    order by i.at desc, i.item collate "C" desc`);
}
