import { type Sql, statement } from '../db/sql.ts';
import type { CampaignStatus } from './schema.ts';

/** Where a campaign stands, as the moves of its status read it. */
export interface CampaignState {
  id: string;
  projectId: string;
  name: string;
  status: CampaignStatus;
  sendSeq: number;
}

const columns = 'id, project_id as "projectId", name, status, send_seq as "sendSeq"';

const stateOf = statement('campaigns.state', `select ${columns} from campaigns where project_id = $1 and id = $2`);

/** The state of a campaign of the project, or null. */
export function campaignState(sql: Sql, projectId: string, id: string): Promise<CampaignState | null> {
  return sql.row<CampaignState>(stateOf, [projectId, id]);
}

/** Sender and audience of a campaign, locked until the transaction ends. */
export interface LockedCampaign extends CampaignState {
  from: string;
  type: 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS';
  audienceType: 'ALL' | 'SEGMENT' | 'FILTERED';
}

const lock = statement(
  'campaigns.lock',
  `select ${columns}, "from", type, audience_type as "audienceType" from campaigns
   where project_id = $1 and id = $2 for no key update`,
);

/** Locks a campaign of the project, so that of two requests at once the second sees what the first did. */
export function lockCampaign(sql: Sql, projectId: string, id: string): Promise<LockedCampaign | null> {
  return sql.row<LockedCampaign>(lock, [projectId, id]);
}

// The audience is what exists at this instant, so it is the clock's and not the transaction's, which may have waited.
const start = statement(
  'campaigns.start_send',
  `with started as (
     update campaigns set status = 'SENDING', sent_at = clock_timestamp(), send_seq = send_seq + 1, total_recipients = $2,
       sent_count = 0, delivered_count = 0, opened_count = 0, clicked_count = 0, bounced_count = 0, complained_count = 0,
       unsubscribed_count = 0, failed_count = 0, cancelled_at = null, audit_note = null, updated_at = now()
     where id = $1 and status in ('DRAFT', 'SCHEDULED')
     returning id, send_seq, project_id)
   insert into campaign_sends (campaign_id, send_seq, project_id) select id, send_seq, project_id from started
   returning send_seq as "sendSeq"`,
);

/** Moves DRAFT or SCHEDULED to SENDING and opens the next send; null when the campaign was in another state. */
export function startSend(sql: Sql, id: string, recipients: number): Promise<{ sendSeq: number } | null> {
  return sql.row<{ sendSeq: number }>(start, [id, recipients]);
}

const lockSend = statement(
  'campaigns.lock_send',
  'select 1 as held from campaign_sends where campaign_id = $1 and send_seq = $2 for update',
);

/** Locks a send, as every claim does: whoever holds it knows that no claim is being made. */
export async function lockCampaignSend(sql: Sql, id: string, sendSeq: number): Promise<boolean> {
  return (await sql.row(lockSend, [id, sendSeq])) !== null;
}

const cancel = statement(
  'campaigns.cancel',
  `update campaigns set status = 'CANCELLED', cancelled_at = clock_timestamp(), updated_at = now()
   where id = $1 and send_seq = $2 and status = 'SENDING'`,
);

/**
 * Moves SENDING to CANCELLED. With the send locked before, no row is claimed after the commit. Answers false when the
 * send was over.
 */
export async function cancelSend(sql: Sql, id: string, sendSeq: number): Promise<boolean> {
  return (await sql.count(cancel, [id, sendSeq])) > 0;
}

const unschedule = statement(
  'campaigns.unschedule',
  `update campaigns set status = 'DRAFT', scheduled_for = null, updated_at = now() where id = $1 and status = 'SCHEDULED'`,
);

/** Moves SCHEDULED back to DRAFT. Answers false when it was not scheduled. */
export async function unscheduleSend(sql: Sql, id: string): Promise<boolean> {
  return (await sql.count(unschedule, [id])) > 0;
}

// A claim without a verdict stands for rows that may be with the provider: what other records call SENDING.
const departed = statement(
  'campaigns.departed',
  `select exists (select from emails where campaign_id = $1 and send_seq = $2 and (sent_at is not null or message_id is not null))
     or exists (select from campaign_claims where campaign_id = $1 and send_seq = $2 and not settled and handed_at is not null)
     as departed`,
);

/** Whether any mail of a send has left, or may have (contract page 2, 2.2: departed). */
export async function hasDeparted(sql: Sql, id: string, sendSeq: number): Promise<boolean> {
  return (await sql.row<{ departed: boolean }>(departed, [id, sendSeq]))?.departed ?? false;
}

const remove = statement(
  'campaigns.delete_draft',
  `delete from campaigns where project_id = $1 and id = $2 and status = 'DRAFT'`,
);

/** Deletes a campaign that is a draft. Answers false when it is none. */
export async function deleteDraft(sql: Sql, projectId: string, id: string): Promise<boolean> {
  return (await sql.count(remove, [projectId, id])) > 0;
}
