import { type Database, type Sql, type Statement, statement } from '../db/sql.ts';
import type { TemplateType } from '../templates/queries.ts';
import { baseAudience, needsSubscription, sourceTypeOf } from './audience.ts';
import { lockCampaignSend } from './state.ts';

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

const insertPage = (name: string, tail: string) =>
  statement(
    name,
    `with page as materialized (
       select ct.id, ct.email from contacts ct
       where ${baseAudience} and ct.id > $5::uuid
         and ct.created_at <= (select sent_at from campaigns where id = $3::uuid and send_seq = $4::int and status = 'SENDING')
       order by ct.project_id, ct.id limit $6::int),
     written as (
       insert into emails (id, project_id, contact_id, to_address, "from", from_name, reply_to, source_type, message_class,
         campaign_id, send_seq, simulated)
       select uuidv7(), $1, id, email, $7, $8, $9, $10, $11, $3, $4, split_part(email, '@', 2) = any ($12::text[])
       from page ${tail}
       returning 1)
     select (select count(*) from page)::int as size, (select count(*) from written)::int as written,
       (select id from page order by id desc limit 1) as through`,
  );
// The cursor keeps pages apart, so that a conflict can only come from a twin. Looking for one beforehand, row by row, would
// cost a fifth of the insert.
const insertAll = insertPage('campaigns.expand_page', '');
const insertMissing = insertPage('campaigns.expand_page_again', 'on conflict do nothing');

const moveCursor = statement(
  'campaigns.expand_move',
  `update campaign_sends s set expanded_through = coalesce($4::uuid, s.expanded_through),
     expanded_count = s.expanded_count + $5::int, expanded = $6::boolean, updated_at = now()
   from campaigns c
   where s.campaign_id = $1::uuid and s.send_seq = $2::int and not s.expanded and s.expanded_through is not distinct from $3::uuid
     and c.id = s.campaign_id and c.send_seq = s.send_seq and c.status = 'SENDING'
   returning true as sending, s.expanded, s.expanded_through as through, s.expanded_count as count`,
);

/** Recipients there are simulators, whose bounces and complaints say nothing of a project (contract page 3, 10.7). */
const simulatorDomains = ['sandbox.test', 'simulator.amazonses.com', 'bounce-testing.postmarkapp.com'];

// A comparison with the lowest uuid can use the index; one with null cannot.
const lowest = '00000000-0000-0000-0000-000000000000';

class CursorMoved extends Error {}

// PostgreSQL manual, appendix A.
const uniqueViolation = '23505';

/**
 * Freezes the next page of the audience: one ledger row for each contact, in the order of their ids. Rows and cursor commit
 * together, and only from the cursor that the caller knows: a twin that runs at the same time changes nothing, and after a
 * crash the next attempt goes on where the rows end. Null when the cursor has moved or the send is over: load it again.
 */
export async function expandPage(
  db: Database,
  campaign: ExpandedCampaign,
  through: string | null,
  size = expansionPage,
): Promise<Expansion | null> {
  const { projectId, campaignId, sendSeq, type } = campaign;
  const values = [
    projectId,
    needsSubscription(type),
    campaignId,
    sendSeq,
    through ?? lowest,
    size,
    campaign.from,
    campaign.fromName,
    campaign.replyTo,
    sourceTypeOf(type),
    type,
    simulatorDomains,
  ];
  const expandWith = (insert: Statement) =>
    db.transaction(async (sql) => {
      const page = await sql.row<{ size: number; written: number; through: string | null }>(insert, values);
      // The lock comes last and for a moment, for every claim waits on it.
      await lockCampaignSend(sql, campaignId, sendSeq);
      const last = page === null || page.size < size;
      const moved = [campaignId, sendSeq, through, page?.through ?? null, page?.written ?? 0, last];
      const expansion = await sql.row<Expansion>(moveCursor, moved);
      if (expansion === null) throw new CursorMoved();
      return expansion;
    });
  try {
    return await expandWith(insertAll).catch((error: unknown) => {
      if ((error as { code?: unknown }).code !== uniqueViolation) throw error;
      return expandWith(insertMissing);
    });
  } catch (error) {
    if (error instanceof CursorMoved) return null;
    throw error;
  }
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
