import { type Sql, statement } from '../db/sql.ts';
import type { TemplateType } from '../templates/queries.ts';
import { baseAudience, needsSubscription, sourceTypeOf } from './audience.ts';

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

/** What the rows of a send have in common. */
export interface ExpandedCampaign {
  projectId: string;
  campaignId: string;
  sendSeq: number;
  from: string;
  fromName: string | null;
  replyTo: string | null;
  type: TemplateType;
}

const load = statement(
  'campaigns.expansion',
  `select c.project_id as "projectId", c.id as "campaignId", s.send_seq as "sendSeq", c."from", c.from_name as "fromName",
     c.reply_to as "replyTo", c.type, c.status = 'SENDING' as sending, s.expanded, s.expanded_through as through,
     s.expanded_count as count
   from campaigns c join campaign_sends s on s.campaign_id = c.id and s.send_seq = c.send_seq
   where c.id = $1 and c.send_seq = $2`,
);

/** The send as an expansion begins or goes on; null when it is gone. */
export function loadExpansion(
  sql: Sql,
  campaignId: string,
  sendSeq: number,
): Promise<(ExpandedCampaign & Expansion) | null> {
  return sql.row(load, [campaignId, sendSeq]);
}

/** Rows that one statement freezes. */
export const expansionPage = 5000;

// Rows and cursor move in one statement, and only from the cursor that the caller knows: a twin that runs at the same time
// moves nothing, and after a crash the next attempt goes on where the rows end. The cursor is the lowest uuid at first,
// because a comparison with it can use the index and one with null cannot.
const expand = statement(
  'campaigns.expand',
  `with send as materialized (
     select s.campaign_id, s.send_seq, c.sent_at from campaign_sends s join campaigns c on c.id = s.campaign_id
     where s.campaign_id = $3::uuid and s.send_seq = $4::int and c.send_seq = s.send_seq and c.status = 'SENDING'
       and not s.expanded and coalesce(s.expanded_through, '00000000-0000-0000-0000-000000000000') = $5::uuid
     for no key update of s),
   page as materialized (
     select ct.id, ct.email from contacts ct
     where ${baseAudience} and ct.id > $5::uuid and ct.created_at <= (select sent_at from send)
     order by ct.project_id, ct.id limit $6::int),
   written as (
     insert into emails (id, project_id, contact_id, to_address, "from", from_name, reply_to, source_type, message_class,
       campaign_id, send_seq, simulated)
     select uuidv7(), $1, id, email, $7, $8, $9, $10, $11, $3, $4, split_part(email, '@', 2) = any ($12::text[])
     from page
     on conflict do nothing
     returning 1),
   last as (select id from page order by id desc limit 1)
   update campaign_sends s set expanded_through = coalesce((select id from last), s.expanded_through),
     expanded_count = s.expanded_count + (select count(*) from written),
     expanded = (select count(*) from page) < $6::int, updated_at = now()
   from send where s.campaign_id = send.campaign_id and s.send_seq = send.send_seq
   returning true as sending, s.expanded, s.expanded_through as through, s.expanded_count as count`,
);

/** Recipients there are simulators, whose bounces and complaints say nothing of a project (contract page 3, 10.7). */
const simulatorDomains = ['sandbox.test', 'simulator.amazonses.com', 'bounce-testing.postmarkapp.com'];

/**
 * Freezes the next page of the audience: one ledger row for each contact, in the order of their ids. Null when the
 * cursor has moved meanwhile or the send is over: load it again.
 */
export function expandPage(
  sql: Sql,
  campaign: ExpandedCampaign,
  through: string | null,
  size = expansionPage,
): Promise<Expansion | null> {
  return sql.row<Expansion>(expand, [
    campaign.projectId,
    needsSubscription(campaign.type),
    campaign.campaignId,
    campaign.sendSeq,
    through ?? '00000000-0000-0000-0000-000000000000',
    size,
    campaign.from,
    campaign.fromName,
    campaign.replyTo,
    sourceTypeOf(campaign.type),
    campaign.type,
    simulatorDomains,
  ]);
}

const countRecipients = statement(
  'campaigns.count_recipients',
  `update campaigns c set total_recipients = s.expanded_count from campaign_sends s
   where c.id = $1 and c.send_seq = $2 and c.status = 'SENDING' and s.campaign_id = c.id and s.send_seq = c.send_seq and s.expanded`,
);

/** Replaces the estimate of the recipients by the number of rows, once all are there. */
export async function noteRecipients(sql: Sql, campaignId: string, sendSeq: number): Promise<void> {
  await sql.count(countRecipients, [campaignId, sendSeq]);
}
