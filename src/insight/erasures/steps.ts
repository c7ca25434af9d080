import { firstIdAt, leastId } from '../../lib/ids.ts';
import { type Database, join, type Query, raw, sql } from '../../store/sql.ts';
import type { Subject } from './export.ts';
import { redactAudit, removeLate } from './settle.ts';

/** The result of one transaction of a step. `after`: where the next one continues, null when the step is done for this pass. */
export interface StepPage {
  rows: number;
  after: string | null;
}

/** A step of an erasure. Repeated on rows that are done it finds none. */
export interface Step {
  /** Its place in `counts`. */
  key: string;
  take(tx: Database, subject: Subject, after: string | null): Promise<StepPage>;
}

const rowsPerPage = 500;
/** Replaces the subject of a mail. */
export const erasedText = '(erased)';

const rowsPerScan = 2_000;

/**
 * Steps that empty rows, in order. A pass over all of them is repeated until it finds nothing, because a request that was under way may
 * have written meanwhile. Which columns each step is for: `places.ts`.
 */
export const steps: readonly Step[] = [
  { key: 'emails', take: emptyEmails },
  once(
    'tags',
    (s) => sql`delete from email_tags t using emails e where e.id = t.email_id and e.contact_id = ${s.contactId}`,
  ),
  // Before events are emptied, which say who clicked what.
  once('links', foldLinks),
  { key: 'events', take: emptyEvents },
  once('history', (s) => sql`delete from contact_history where contact_id = ${s.contactId}`),
  {
    key: 'lateContacts',
    async take(tx, subject) {
      const { contacts, trash } = await removeLate(tx, subject);
      return { rows: contacts + trash, after: null };
    },
  },
  { key: 'webhookAnswers', take: emptyAnswers },
  once('idempotency', emptyIdempotency),
  once('plans', emptyPlans),
  once('suppressionRules', (s) =>
    s.pattern === null
      ? null
      : sql`delete from suppression_rules where project_id = ${s.projectId} and pattern ~* ${`^${s.pattern}$`}`,
  ),
  once('importErrors', (s) =>
    s.pattern === null
      ? null
      : sql`
      update job_errors x set email = null, error = regexp_replace(x.error, ${s.pattern}, ${s.pseudonym}, 'gi')
      from jobs j where j.id = x.job_id and j.project_id = ${s.projectId} and (x.email ~* ${s.pattern} or x.error ~* ${s.pattern})`,
  ),
  replaced('jobs', { failed_reason: 'text', spec: 'jsonb' }),
  replaced('segments', { condition: 'jsonb' }, 'segmentConditions'),
  replaced('contact_views', { filter: 'jsonb' }, 'views'),
  replaced('campaigns', { audience_condition: 'jsonb' }, 'audiences'),
  replaced('dry_runs', { facts: 'jsonb', findings: 'jsonb' }, 'reviews'),
  replaced('api_keys', { recipients: 'jsonb' }, 'keys'),
  { key: 'audit', take: redactAudit },
  { key: 'otherEmails', take: replaceInEmails },
  { key: 'otherEvents', take: replaceInEvents },
];

/** A step of one statement; none where it has nothing to look for. */
function once(key: string, statement: (subject: Subject) => Query | null): Step {
  return {
    key,
    async take(tx, subject) {
      const query = statement(subject);
      return { rows: query === null ? 0 : await tx.count(query), after: null };
    },
  };
}

/** A step that writes the pseudonym wherever the columns of a table of the project have the address. */
function replaced(table: string, columns: Readonly<Record<string, 'text' | 'jsonb'>>, key = table): Step {
  return once(key, ({ pattern, pseudonym, projectId }) => {
    if (pattern === null) return null;
    const { set, found } = replacing(columns, pattern, pseudonym);
    return sql`update ${raw(table)} set ${set} where project_id = ${projectId} and (${found})`;
  });
}

function replacing(columns: Readonly<Record<string, 'text' | 'jsonb'>>, pattern: string, pseudonym: string) {
  const each = Object.entries(columns).map(([name, type]) => ({ column: raw(`"${name}"`), type: raw(type) }));
  const set = ({ column, type }: (typeof each)[number]) =>
    sql`${column} = regexp_replace(${column}::text, ${pattern}, ${pseudonym}, 'gi')::${type}`;
  const found = ({ column }: (typeof each)[number]) => sql`coalesce(${column}::text ~* ${pattern}, false)`;
  return { set: join(each.map(set), ', '), found: join(each.map(found), ' or ') };
}

// The row stays, for campaigns and the ledger count it: what it was to, and all that it said, goes. Of mail that was received the
// recipient is the project itself. Of a reason the code stays; its words are the provider's, who often names the recipient.
async function emptyEmails(tx: Database, { contactId, pseudonym }: Subject, after: string | null): Promise<StepPage> {
  const page = await tx.row<{ last: string | null; rows: number }>(sql`
    with page as materialized (
      select id from emails where contact_id = ${contactId} and id > ${after ?? leastId} order by id limit ${rowsPerPage}),
    emptied as (
      update emails e set
        to_address = case when source_type = 'INBOUND' then to_address else ${pseudonym} end,
        message_id = case when source_type = 'INBOUND' then null else message_id end,
        to_name = null, reply_to = null, subject = ${erasedText}, body = '', render = null, headers = null, attachments = null,
        reason = reason - 'words', suppression = suppression - 'name' - 'pattern' - 'recipient'
      from page where e.id = page.id and (
        source_type <> 'INBOUND' and to_address <> ${pseudonym} or source_type = 'INBOUND' and message_id is not null
        or coalesce(to_name, reply_to, render::text, headers::text, attachments::text) is not null or body <> ''
        or subject is distinct from ${erasedText}
        or reason ? 'words' or suppression ?| '{name,pattern,recipient}')
      returning e.id),
    forgotten as (delete from failed_attachments where email_id in (select id from emptied))
    select (select id from page order by id desc limit 1) as last, (select count(*) from emptied)::int as rows`);
  return { rows: page?.rows ?? 0, after: page?.last ?? null };
}

// Links of a campaign that name the address, or that this contact alone has clicked, may be personal: their clicks are counted under
// no name, as those of links beyond the number that is kept.
function foldLinks({ projectId, contactId, pattern }: Subject): Query {
  return sql`
    with clicked as materialized (
      select distinct e.campaign_id, e.send_seq, v.data ->> 'link' as link
      from events v join emails e on e.id = v.email_id
      where v.contact_id = ${contactId} and v.name = 'email.click' and e.campaign_id is not null),
    folded as (
      delete from campaign_links l using campaigns c
      where c.id = l.campaign_id and c.project_id = ${projectId} and l.link <> ''
        and (coalesce(l.link ~* ${pattern}::text, false) or l.recipients <= 1 and exists (
          select from clicked k where k.campaign_id = l.campaign_id and k.send_seq = l.send_seq and k.link = l.link))
      returning l.*)
    insert into campaign_links as l (campaign_id, send_seq, link, clicks, recipients)
    select campaign_id, send_seq, '', sum(clicks), sum(recipients) from folded group by 1, 2
    on conflict (campaign_id, send_seq, link) do update set
      clicks = l.clicks + excluded.clicks, recipients = l.recipients + excluded.recipients`;
}

/** Empties the data of a page of events of the contact. */
export async function emptyEvents(tx: Database, { contactId }: Subject): Promise<StepPage> {
  const rows = await tx.count(sql`
    with emptied as (
      update events set data = null where id = any (array(
        select id from events where contact_id = ${contactId} and data is not null limit ${rowsPerPage}))
      returning id),
    touched as (
      insert into events_touched (id) select e.id from emptied e join event_counts_state s on e.id < s.copied_before)
    select from emptied`);
  return { rows, after: rows === rowsPerPage ? leastId : null };
}

// Receivers often repeat what they were sent.
async function emptyAnswers(tx: Database, { projectId, contactId, pattern }: Subject): Promise<StepPage> {
  const rows = await tx.count(sql`
    update webhook_attempts a set answer = null, error = case when a.error is not null then ${erasedText} end
    from webhook_deliveries d
    where d.id = a.delivery_id and (a.answer is not null or a.error <> ${erasedText})
      and d.endpoint_id in (select id from webhook_endpoints where project_id = ${projectId})
      and (d.event_id in (select id from events where contact_id = ${contactId} union all select ${contactId}::uuid)
        or coalesce(a.answer ~* ${pattern}::text, false))`);
  return { rows, after: null };
}

// A key stays used, so that a repetition of the request does nothing; what it was answered goes. One that has the address in it gets
// another name: `receipt-ada@example.com` may be any address that ends so, and a key is not worth the risk.
function emptyIdempotency({ projectId, contactId, addresses, pattern }: Subject): Query {
  return sql`
    with found as (
      select id, exists (select from unnest(${addresses}::text[]) a where position(a in lower(key)) > 0) as is_named
      from idempotency_keys where project_id = ${projectId})
    update idempotency_keys k set answer = null, key = case when f.is_named then 'erased-' || k.id else k.key end
    from found f where f.id = k.id and (f.is_named or coalesce(k.answer ~* ${pattern}::text, false)
      or position(${contactId} in k.answer) > 0)`;
}

function emptyPlans({ projectId, contactId, pattern }: Subject): Query {
  const any = pattern ?? contactId;
  return sql`
    update mcp_plans set input = '{}', sentence = ${erasedText}, samples = '{}', result = null, facts = null
    where project_id = ${projectId} and sentence <> ${erasedText}
      and (coalesce(result::text, '') || input::text || sentence || array_to_string(samples, ' ')) ~* (${any} || '|' || ${contactId})`;
}

// Mail to others that names the address. What is not sent yet is left as its sender wrote it.
function replaceInEmails(tx: Database, subject: Subject, after: string | null): Promise<StepPage> {
  return scan(
    tx,
    subject,
    after,
    'emails',
    {
      to_address: 'text',
      from: 'text',
      reply_to: 'text',
      subject: 'text',
      body: 'text',
      render: 'jsonb',
      headers: 'jsonb',
      reason: 'jsonb',
      suppression: 'jsonb',
    },
    sql`status not in ('PENDING', 'SENDING')`,
  );
}

function replaceInEvents(tx: Database, subject: Subject, after: string | null): Promise<StepPage> {
  return scan(tx, subject, after, 'events', { data: 'jsonb' });
}

async function scan(
  tx: Database,
  { projectId, pattern, pseudonym, requestedAt }: Subject,
  after: string | null,
  table: string,
  columns: Readonly<Record<string, 'text' | 'jsonb'>>,
  which = raw('true'),
): Promise<StepPage> {
  if (pattern === null) return { rows: 0, after: null };
  const { set, found } = replacing(columns, pattern, pseudonym);
  const name = raw(table);
  // Rows of later belong to whoever has the address then.
  const until = firstIdAt(new Date(requestedAt.getTime() + 60_000));
  const page = await tx.row<{ last: string | null; rows: number }>(sql`
    with page as materialized (
      select id from ${name} where project_id = ${projectId} and id > ${after ?? leastId} and id < ${until}::uuid
      order by id limit ${rowsPerScan}),
    changed as (update ${name} set ${set} where id in (select id from page) and ${which} and (${found}) returning 1)
    select (select id from page order by id desc limit 1) as last, (select count(*) from changed)::int as rows`);
  return { rows: page?.rows ?? 0, after: page?.last ?? null };
}
