import { type Sql, statement } from '../../core/database/sql.ts';
import type { Audience } from './audience.ts';
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
export interface LockedCampaign extends CampaignState, Audience {
  from: string;
  resendOf: string | null;
  /** The database's clock, in epoch milliseconds: what lies in the future is decided by it. */
  nowMs: number;
}

const lock = statement(
  'campaigns.lock',
  `select ${columns}, "from", type, audience_type as "audienceType", audience_condition as "audienceCondition",
     segment_id as "segmentId", resend_of as "resendOf", resend_seq as "resendSeq",
     (1000 * extract(epoch from clock_timestamp()))::float8 as "nowMs"
   from campaigns where project_id = $1 and id = $2 for no key update`,
);

/**
 * Locks a campaign of the project, so that of two requests at once the second sees what the first did. Whoever locks its
 * send too (`lockCampaignSend`) does that afterwards.
 */
export function lockCampaign(sql: Sql, projectId: string, id: string): Promise<LockedCampaign | null> {
  return sql.row<LockedCampaign>(lock, [projectId, id]);
}

const openSend = `
   insert into campaign_sends (campaign_id, send_seq, project_id) select id, send_seq, project_id from moved
   on conflict (campaign_id, send_seq) do update set updated_at = now()
   returning send_seq as "sendSeq"`;

// The audience is what exists at this instant, so it is the clock's and not the transaction's, which may have waited.
// A scheduled campaign has the number of its send already.
const start = statement(
  'campaigns.start_send',
  `with moved as (
     update campaigns set status = 'SENDING', sent_at = clock_timestamp(), send_seq = send_seq + (status = 'DRAFT')::int,
       total_recipients = $2, sent_count = 0, delivered_count = 0, opened_count = 0, clicked_count = 0, bounced_count = 0,
       complained_count = 0, unsubscribed_count = 0, skipped_count = 0, failed_count = 0, cancelled_at = null,
       paused_at = null, audit_note = null, updated_at = now()
     where id = $1 and status in ('DRAFT', 'SCHEDULED')
     returning id, send_seq, project_id)
   ${openSend}`,
);

/** Moves DRAFT or SCHEDULED to SENDING and opens its send; null when the campaign was in another state. */
export function startSend(sql: Sql, id: string, recipients: number): Promise<{ sendSeq: number } | null> {
  return sql.row<{ sendSeq: number }>(start, [id, recipients]);
}

const schedule = statement(
  'campaigns.schedule_send',
  `with moved as (
     update campaigns set status = 'SCHEDULED', scheduled_for = $3::timestamptz, send_seq = send_seq + (status = 'DRAFT')::int,
       total_recipients = $2, cancelled_at = null, audit_note = null, updated_at = now()
     where id = $1 and status in ('DRAFT', 'SCHEDULED')
     returning id, send_seq, project_id)
   ${openSend}`,
);

/** Moves DRAFT to SCHEDULED, or a scheduled one to another time; null when the campaign was in another state. */
export function scheduleSend(sql: Sql, id: string, recipients: number, at: Date): Promise<{ sendSeq: number } | null> {
  return sql.row<{ sendSeq: number }>(schedule, [id, recipients, at.toISOString()]);
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
  `update campaigns set status = 'CANCELLED', cancelled_at = clock_timestamp(), paused_at = null, updated_at = now()
   where id = $1 and send_seq = $2 and status = 'SENDING'`,
);

/**
 * Moves SENDING to CANCELLED. With campaign and send locked before, no row is claimed after the commit. Answers false when
 * the send was over.
 */
export async function cancelSend(sql: Sql, id: string, sendSeq: number): Promise<boolean> {
  return (await sql.count(cancel, [id, sendSeq])) > 0;
}

const unschedule = statement(
  'campaigns.unschedule',
  `with moved as (
     update campaigns set status = 'DRAFT', scheduled_for = null, audit_note = $3, updated_at = now()
     where id = $1 and send_seq = $2 and status = 'SCHEDULED' returning id, send_seq, project_id, name),
   told as (
     insert into events (id, project_id, name, data)
     select uuidv7(), project_id, 'campaign.reverted',
       jsonb_build_object('campaignId', id, 'campaignName', name, 'reason', $3::text)
     from moved where $3::text is not null),
   closed as (
     update campaign_sends s set closed = true, updated_at = now()
     from moved m where s.campaign_id = m.id and s.send_seq = m.send_seq)
   select 1 from moved`,
);

/**
 * Moves SCHEDULED back to DRAFT; where nobody asked for it, the reason is noted and told as an event of the project, which
 * its activity shows. Answers false when it was not scheduled.
 */
export async function unscheduleSend(
  sql: Sql,
  id: string,
  sendSeq: number,
  note: string | null = null,
): Promise<boolean> {
  return (await sql.count(unschedule, [id, sendSeq, note])) > 0;
}

const note = statement(
  'campaigns.note',
  'update campaigns set audit_note = $3, updated_at = now() where id = $1 and send_seq = $2',
);

/** Writes down what an operator should know of a send. */
export async function noteCampaign(sql: Sql, id: string, sendSeq: number, text: string): Promise<void> {
  await sql.count(note, [id, sendSeq, text]);
}

const pauseSending = statement(
  'campaigns.pause',
  `update campaigns set paused_at = clock_timestamp(), updated_at = now()
   where id = $1 and send_seq = $2 and status = 'SENDING' and paused_at is null`,
);
const resumeSending = statement(
  'campaigns.resume',
  `update campaigns set paused_at = null, updated_at = now()
   where id = $1 and send_seq = $2 and status = 'SENDING' and paused_at is not null`,
);

/**
 * Pauses a campaign that is SENDING, or lets it go on. With campaign and send locked before, no row is claimed after the
 * commit of a pause. Answers false when nothing changed.
 */
export async function setPaused(sql: Sql, id: string, sendSeq: number, paused: boolean): Promise<boolean> {
  return (await sql.count(paused ? pauseSending : resumeSending, [id, sendSeq])) > 0;
}

// A claim without a verdict stands for rows that may be with the provider: what other records call SENDING. Whoever the
// provider refuses for an earlier bounce has no instant at which the mail left, but a state of delivery and an event.
const departed = statement(
  'campaigns.departed',
  `select exists (select from emails where campaign_id = $1 and send_seq = $2
       and (sent_at is not null or message_id is not null or bounced_at is not null))
     or exists (select from campaign_claims where campaign_id = $1 and send_seq = $2 and not settled and handed_at is not null)
     as departed`,
);

/** Whether any mail of a send has left, or may have (contract page 2, 2.2: departed). */
export async function hasDeparted(sql: Sql, id: string, sendSeq: number): Promise<boolean> {
  return (await sql.row<{ departed: boolean }>(departed, [id, sendSeq]))?.departed ?? false;
}
