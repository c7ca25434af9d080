import { type Database, type Query, raw, sql } from '../../core/database/sql.ts';
import { usageMoved } from '../../platform/billing/index.ts';
import { countingUnsent, endedColumns, withoutBytes } from '../ledger/index.ts';

// Mail that nobody has claimed. A claim and this wait for each other's row lock, so that one of the two finds it.
const unclaimed = (projectId: string, id: string): Query => sql`
  email_id = ${id} and project_id = ${projectId} and claim_id is null
  and exists (select from emails e where e.id = email_id and e.status in ('PENDING', 'SENDING') and e.sent_at is null)`;

/** Takes a mail out of the queue and gives back its quota. False when it is not there any more. */
export async function cancelQueued(db: Database, projectId: string, id: string): Promise<boolean> {
  const row = await db.row<{ count: number }>(sql`
    with gone as (delete from email_queue where ${unclaimed(projectId, id)} returning email_id),
    cancelled as (
      update emails e set status = 'CANCELLED', reason = '{"code": "cancelled"}', updated_at = now(),
        attachments = ${raw(withoutBytes('e.attachments'))}
      where e.id = any(array(select email_id from gone)) and e.status in ('PENDING', 'SENDING')
      returning ${raw(endedColumns)}),
    ${raw(usageMoved('cancelled', 'false', 'true'))},
    counted as (${countingUnsent('cancelled', 'CANCELLED')})
    select count(*)::int as count from cancelled`);
  return row?.count === 1;
}

/**
 * Sends a mail of the queue at another time, or (null) now. Attempts count from then on, as for mail that is new. False
 * when it is not there any more.
 */
export async function moveQueued(db: Database, projectId: string, id: string, at: Date | null): Promise<boolean> {
  const when = sql`coalesce(${at?.toISOString() ?? null}::timestamptz, now())`;
  const moved = await db.count(sql`
    with moved as (
      update email_queue set due_at = ${when}, created_at = ${when} where ${unclaimed(projectId, id)} returning email_id)
    update emails set scheduled_for = ${at?.toISOString() ?? null}::timestamptz, held_until = null, updated_at = now()
    where id = any(array(select email_id from moved))`);
  return moved === 1;
}

/** A mail, and whether it is in the queue. */
export interface LeftMail {
  status: string;
  isClaimed: boolean;
  campaignId: string | null;
  from: string;
  to: string;
}

/** What became of a mail of the project; null when there is none. */
export function findLeft(db: Database, projectId: string, id: string): Promise<LeftMail | null> {
  return db.row<LeftMail>(sql`
    select status, campaign_id as "campaignId", "from", to_address as "to",
      exists (select from email_queue q where q.email_id = e.id) as "isClaimed"
    from emails e where project_id = ${projectId} and id = ${id}`);
}
