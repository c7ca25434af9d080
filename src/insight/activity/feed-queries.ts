import { mostContactBytes } from '../../audience/contacts/index.ts';
import { eventData, mostListedEventBytes } from '../../audience/events/index.ts';
import { jsonWithin } from '../../core/database/bounded-page.ts';
import { type Sql, statement } from '../../core/database/sql.ts';
import type { JsonObjectValue } from '../../core/lib/json.ts';
import type { Bound } from './cursor.ts';
import { type Source, sources } from './types.ts';

/** Items on a page at most. */
export const longestPage = 100;

/** A mail as an item tells of it, with what rendering its body needs. */
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
  opens: number;
  clicks: number;
  campaignName: string | null;
  workflowName: string | null;
  createdAt: string;
}

/** A campaign as an item tells of it. */
interface ItemCampaign {
  campaignName: string;
  subject: string;
  totalRecipients: number;
  segmentName: string | null;
  audienceType: string;
}

/** A run of an automation as an item tells of it. */
interface ItemRun {
  workflowName: string;
  status: string;
  exitReason: string | null;
}

/** An item of the feed; of the last four only the one that its source has is set. */
export interface FeedRow {
  /** Place in `sources`. */
  source: number;
  id: string;
  /** The row's own id. */
  uuid: string;
  at: string;
  contactId: string | null;
  contactEmail: string | null;
  event: { name: string; data: JsonObjectValue | null } | null;
  mail: ItemMail | null;
  campaign: ItemCampaign | null;
  run: ItemRun | null;
}

const before = (at: string, id: string, place: number) => {
  const [boundAt, boundId] = [`($3::timestamptz[])[${place + 1}]`, `($4::uuid[])[${place + 1}]`];
  return `${at} >= $2::timestamptz and ${at} <= ${boundAt} and (${at}, ${id}) < (${boundAt}, ${boundId})`;
};

// Each source answers its newest rows by an index of its own order, so that a page costs the same however deep it lies and
// however much there is. A source that is not asked for is not read. What was sent to one contact is found in the ledger: an
// index of its order would be paid for by every message of every campaign.
function keysOf(source: Source, place: number, whose: string, ofContact: boolean): string {
  const asked = `($5::boolean[])[${place + 1}]`;
  const of = {
    events: ['events', 'e.created_at', 'e.id', 'e.contact_id', whose],
    mail: ['events', 'e.mail_at', 'e.email_id', 'e.contact_id', `${whose} and e.name = '${source.event}'`],
    campaigns: ['campaigns', 'e.sent_at', 'e.id', 'null::uuid', whose],
    runs: ['automation_runs', `e.${source.at}`, 'e.id', 'e.contact_id', whose],
  } as const;
  const sent = ['emails', 'e.sent_at', 'e.id', 'e.contact_id', whose] as const;
  const [rows, at, id, contact, condition] = ofContact && source.event === 'email.sent' ? sent : of[source.rows];
  return `(select ${place} as source, ${at} as at, ${id} as id, ${contact} as contact_id, '${source.prefix}' || ${id} || '${source.suffix}' as item
    from ${rows} e where ${asked} and ${condition} and ${before(at, id, place)}
    order by ${at} desc, ${id} desc limit ${longestPage + 1})`;
}

const mailFacts = `jsonb_build_object('subject', coalesce(m.subject, m.render ->> 'subject', k.subject),
  'body', coalesce(m.render ->> 'body', m.body, k.body), 'rendered', m.render is null and m.body is not null,
  'from', m."from", 'fromName', m.from_name, 'replyTo', m.reply_to, 'toName', m.to_name, 'toAddress', m.to_address,
  'sourceType', m.source_type, 'messageClass', m.message_class, 'data', m.render -> 'data',
  'contact', jsonb_build_object('subscribed', coalesce((m.render ->> 'subscribed')::boolean, c.subscribed),
    'data', coalesce(m.render -> 'contact', ${jsonWithin('c.data', mostContactBytes)}, '{}')),
  'error', mail_reason_text(m.reason), 'opens', m.opens, 'clicks', m.clicks, 'campaignName', k.name, 'workflowName', a.name, 'createdAt', m.created_at)`;

const places = (rows: Source['rows']) =>
  sources.flatMap((source, place) => (source.rows === rows ? [place] : [])).join(', ');
const page = (whose: string, from: readonly Source[], ofContact: boolean) => `
  select i.source, i.item as id, i.id as uuid, i.at::text as at, i.contact_id as "contactId", c.email as "contactEmail",
    case when e.id is not null then jsonb_build_object('name', e.name,
      'data', case when e.data is null then ${eventData('e')} else ${jsonWithin('e.data', mostListedEventBytes)} end) end as event,
    case when m.id is not null then ${mailFacts} end as mail,
    case when i.source in (${places('campaigns')}) then jsonb_build_object('campaignName', k.name, 'subject', k.subject,
      'totalRecipients', k.total_recipients, 'segmentName', s.name, 'audienceType', k.audience_type) end as campaign,
    case when r.id is not null and m.id is null then jsonb_build_object('workflowName', a.name, 'status', r.status,
      'exitReason', r.exit_reason) end as run
  from (
    select * from (${from.map((source) => keysOf(source, sources.indexOf(source), whose, ofContact)).join(' union all ')}) found
    order by at desc, item collate "C" desc limit $6::int) i
    left join events e on i.source = 0 and e.id = i.id
    left join emails m on i.source in (${places('mail')}) and m.id = i.id
    left join campaigns k on k.id = case when i.source in (${places('campaigns')}) then i.id else m.campaign_id end
    left join segments s on i.source in (${places('campaigns')}) and s.id = k.segment_id
    left join automation_runs r on r.id = case when i.source in (${places('runs')}) then i.id else m.workflow_execution_id end
    left join automations a on a.id = r.automation_id
    left join contacts c on c.id = i.contact_id
  order by i.at desc, i.item collate "C" desc`;

const ofProject = statement('activity.page', page('e.project_id = $1', sources, false));
// Rows of a contact are of its project, so that the contact alone has to be looked at.
const ofContact = statement(
  'activity.page_of_contact',
  `with contact as materialized (select id from contacts where id = $7::uuid and project_id = $1)
   ${page(
     'e.contact_id = (select id from contact)',
     sources.filter(({ rows }) => rows !== 'campaigns'),
     true,
   )}`,
);

/** What a page is asked for. `bounds` and `asked` have one entry for each of `sources`. */
export interface FeedPageRequest {
  contactId: string | null;
  /** The first instant that belongs to the feed; `-infinity` for no such. */
  from: string;
  bounds: readonly Bound[];
  asked: readonly boolean[];
  limit: number;
}

/** The newest items below the bounds, in the order of the feed. */
export function feedPage(sql: Sql, projectId: string, request: FeedPageRequest): Promise<FeedRow[]> {
  const { contactId, from, bounds, asked, limit } = request;
  const values = [
    projectId,
    from,
    bounds.map(({ at }) => at?.toISOString() ?? 'infinity'),
    bounds.map(({ uuid }) => uuid),
    asked,
    limit,
  ];
  return contactId === null
    ? sql.rows<FeedRow>(ofProject, values)
    : sql.rows<FeedRow>(ofContact, [...values, contactId]);
}
