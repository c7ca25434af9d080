import { type BillingSettings, reserveMail } from '../../billing/service.ts';
import { usageCategory } from '../../billing/usage-queries.ts';
import { leastId } from '../../lib/ids.ts';
import { acceptingMail } from '../../mail/ledger/accept.ts';
import { countingUnsent, endedColumns, failedEvents } from '../../mail/ledger/counting.ts';
import { simulatorDomains } from '../../mail/ledger/queries.ts';
import { recordingEvents } from '../../store/record-events.ts';
import { type Database, type Query, raw, sql } from '../../store/sql.ts';
import { lockCampaignSend } from '../state.ts';
import { type Audience, inBaseAudience, sourceTypeOf } from './audience.ts';

/** How far the audience of a send is frozen into ledger rows. */
export interface Expansion {
  /** False once the campaign is no longer SENDING this send. */
  sending: boolean;
  /** Whether every member of the audience has its row. */
  expanded: boolean;
  /** The contact up to which rows exist; null before the first. */
  through: string | null;
  /** Rows so far. */
  count: number;
}

/** The values that all rows of a send share, and the audience that gets them. */
export interface ExpandedCampaign extends Audience {
  campaignId: string;
  sendSeq: number;
  from: string;
  fromName: string | null;
  replyTo: string | null;
  /** When the send began, as Postgres writes it; contacts that came later are not in its audience. */
  sentAt: string;
  /** The review whose contacts alone get the campaign; null where its audience is that of now. */
  reviewId?: string | null;
}

/** The send as an expansion begins or goes on; null when it is gone. */
export function loadExpansion(
  db: Database,
  campaignId: string,
  sendSeq: number,
): Promise<(ExpandedCampaign & Expansion) | null> {
  return db.row(sql`
    select c.project_id as "projectId", c.id as "campaignId", s.send_seq as "sendSeq", c."from", c.from_name as "fromName",
      c.reply_to as "replyTo", c.type, c.audience_type as "audienceType", c.audience_condition as "audienceCondition",
      c.segment_id as "segmentId", c.resend_of as "resendOf", c.resend_seq as "resendSeq", c.correction, c.sent_at::text as "sentAt",
      case when s.drift = 'none' then s.review_id end as "reviewId",
      c.status = 'SENDING' as sending, s.expanded, s.expanded_through as through, s.expanded_count as count
    from campaigns c join campaign_sends s on s.campaign_id = c.id and s.send_seq = c.send_seq
    where c.id = ${campaignId} and c.send_seq = ${sendSeq}`);
}

/** Rows that one statement freezes. */
export const expansionPage = 5000;

class CursorMoved extends Error {}

// PostgreSQL manual, appendix A.
const uniqueViolation = '23505';

/** Which contacts a page freezes: the next of everybody, or IDs that were found before, in their order. */
export type PageOfContacts = { size: number } | { ids: readonly string[]; last: boolean } | PartlyLeftOut;

/** A page of IDs that some contacts are left out of, who get their rows as well. */
interface PartlyLeftOut {
  ids: readonly string[];
  last: boolean;
  /** The last contact of the page, left out or not; null for none. */
  through: string | null;
  /** Writes rows for those who are left out, once the others have theirs. Returns how many. */
  writeLeftOut(tx: Database): Promise<number>;
}

/**
 * Freezes the next page of the audience: one ledger row for each contact, in the order of their ids. Rows and cursor commit
 * together, and only from the cursor that the caller knows: a twin that runs at the same time changes nothing, and after a
 * crash the next attempt goes on where the rows end. Rows beyond the project's monthly limit are FAILED at once. Null when
 * the cursor has moved or the send is over: load it again.
 */
export async function expandPage(
  db: Database,
  billing: BillingSettings,
  campaign: ExpandedCampaign,
  through: string | null,
  page: PageOfContacts,
): Promise<Expansion | null> {
  const { campaignId, sendSeq } = campaign;
  const chosen = 'ids' in page;
  const expandWith = (conflict?: Query) =>
    db.transaction(async (tx) => {
      const rows = await tx.row<{ size: number; written: number; through: string | null }>(
        insertPage(
          campaign,
          chosen ? chosenPage(campaign, page.ids) : wholePage(campaign, through, page.size),
          conflict,
        ),
      );
      const { size = 0, written = 0 } = rows ?? {};
      const isPartly = 'writeLeftOut' in page;
      const reached = isPartly ? page.through : chosen ? (page.ids.at(-1) ?? null) : (rows?.through ?? null);
      await holdLimit(tx, billing, campaign, through, reached, written);
      const leftOut = isPartly ? await page.writeLeftOut(tx) : 0;
      // The lock comes last and for a moment, for every claim waits on it.
      await lockCampaignSend(tx, campaignId, sendSeq);
      const last = chosen ? page.last : size < page.size;
      const expansion = await tx.row<Expansion>(sql`
        update campaign_sends s set expanded_through = coalesce(${reached}::uuid, s.expanded_through),
          expanded_count = s.expanded_count + ${written + leftOut}::int, expanded = ${last}::boolean, updated_at = now()
        from campaigns c
        where s.campaign_id = ${campaignId}::uuid and s.send_seq = ${sendSeq}::int and not s.expanded
          and s.expanded_through is not distinct from ${through}::uuid
          and c.id = s.campaign_id and c.send_seq = s.send_seq and c.status = 'SENDING'
        returning true as sending, s.expanded, s.expanded_through as through, s.expanded_count as count`);
      if (expansion === null) throw new CursorMoved();
      return expansion;
    });
  try {
    // The cursor keeps pages apart, so that a conflict can only come from a twin. Looking for one beforehand, row by row, would
    // cost a fifth of the insert.
    return await expandWith().catch((error: unknown) => {
      if ((error as { code?: unknown }).code !== uniqueViolation) throw error;
      return expandWith(sql`on conflict do nothing`);
    });
  } catch (error) {
    if (error instanceof CursorMoved) return null;
    throw error;
  }
}

// A page of everybody is found by the index, from the cursor on. Contacts are locked until their rows are there, for `emails` has no
// foreign key that would do it (see the migration `ledger_writes`): whoever deletes one waits, and takes its row along.
function wholePage(campaign: ExpandedCampaign, through: string | null, size: number): Query {
  return sql`
    select c.id, c.email from contacts c
    where ${inBaseAudience(campaign)} and c.id > ${through ?? leastId}::uuid
      and c.created_at <= (select sent_at from campaigns
        where id = ${campaign.campaignId}::uuid and send_seq = ${campaign.sendSeq}::int and status = 'SENDING')
    order by c.project_id, c.id limit ${size}::int for key share of c`;
}

// A page of ids that were found before, locked in the same way: whoever left or was deleted meanwhile drops out.
function chosenPage(campaign: ExpandedCampaign, ids: readonly string[]): Query {
  return sql`
    select c.id, c.email from contacts c
    where ${inBaseAudience(campaign)} and c.id = any(${ids}::uuid[])
      and exists (select from campaigns
        where id = ${campaign.campaignId}::uuid and send_seq = ${campaign.sendSeq}::int and status = 'SENDING')
    for key share of c`;
}

function insertPage(
  { projectId, campaignId, sendSeq, from, fromName, replyTo, type }: ExpandedCampaign,
  page: Query,
  conflict: Query | undefined,
): Query {
  const accepting = acceptingMail({
    projectId,
    columns: `id, project_id, contact_id, to_address, "from", from_name, reply_to, source_type, message_class, campaign_id, send_seq,
      simulated, limited_by`,
    rows: sql`
      select uuidv7(), ${projectId}::uuid, id, email, ${from}, ${fromName}, ${replyTo}, ${sourceTypeOf(type)}, ${type},
        ${campaignId}::uuid, ${sendSeq}::int, split_part(email, '@', 2) = any (${simulatorDomains}::text[]),
        (select limited_by from campaign_sends where campaign_id = ${campaignId}::uuid and send_seq = ${sendSeq}::int)
      from page`,
    ...(conflict && { onConflict: conflict }),
  });
  return sql`
    with page as materialized (${page}),
    ${accepting}
    select (select count(*) from page)::int as size, (select count(*) from accepted)::int as written,
      (select id from page order by id desc limit 1) as through`;
}

// The rows are there, so that the ledger says of everybody what became of them.
async function holdLimit(
  tx: Database,
  billing: BillingSettings,
  { projectId, campaignId, sendSeq, type }: ExpandedCampaign,
  after: string | null,
  through: string | null,
  written: number,
): Promise<void> {
  if (written === 0) return;
  const category = usageCategory(sourceTypeOf(type), type);
  const { granted } = await reserveMail(tx, billing, { projectId, category, count: written, partly: true });
  if (granted >= written) return;
  const given = sql`
    refused as (
      update emails e set status = 'FAILED', reason = '{"code": "limit_reached"}'
      where e.status = 'PENDING' and e.id in (
        select id from emails where campaign_id = ${campaignId}::uuid and send_seq = ${sendSeq}::int
          and contact_id > ${after ?? leastId}::uuid and contact_id <= ${through}::uuid and status = 'PENDING'
        order by contact_id desc limit ${written - granted})
      returning ${raw(endedColumns)}),
    hours_counted as (${countingUnsent('refused', 'FAILED')}),
    counted as (
      update campaigns set failed_count = failed_count + (select count(*) from refused)
      where id = ${campaignId} and send_seq = ${sendSeq} returning id)`;
  await tx.count(recordingEvents({ given, events: [failedEvents('refused', 'counted')] }));
}

/** Replaces the estimate of the recipients by the number of rows, once all are there. */
export async function noteRecipients(db: Database, campaignId: string, sendSeq: number): Promise<void> {
  await db.count(sql`
    update campaigns c set total_recipients = s.expanded_count from campaign_sends s
    where c.id = ${campaignId} and c.send_seq = ${sendSeq} and c.status = 'SENDING' and s.campaign_id = c.id
      and s.send_seq = c.send_seq and s.expanded`);
}
