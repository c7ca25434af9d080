import { usageMoved } from '../../billing/daily-queries.ts';
import { countingUnsent, endedColumns } from '../../mail/ledger/counting.ts';
import { failedEvents } from '../../mail/ledger/failed.ts';
import { recordingEvents } from '../../store/record-events.ts';
import { type Database, raw, sql } from '../../store/sql.ts';

/** When a project was created and whether it is disabled, or null. */
export function projectAge(db: Database, projectId: string): Promise<{ createdAt: string; disabled: boolean } | null> {
  return db.row(sql`select created_at::text as "createdAt", disabled from projects where id = ${projectId}`);
}

/** Disables a project for its reputation. Answers false when it was disabled already. */
export async function disableForReputation(tx: Database, projectId: string): Promise<boolean> {
  const disabled = await tx.count(sql`
    update projects set disabled = true, disabled_reason = 'REPUTATION', updated_at = now()
    where id = ${projectId} and not disabled`);
  return disabled > 0;
}

/**
 * Ends up to `limit` mails of a project that wait, because it is disabled; answers how many. Mail in a claim may be with the
 * provider: whoever holds the claim settles it.
 */
export async function failQueued(db: Database, projectId: string, limit: number): Promise<number> {
  const given = sql`
    gone as (
      delete from email_queue where email_id = any(array(
        select email_id from email_queue where project_id = ${projectId} and claim_id is null
        order by due_at, email_id limit ${limit} for update skip locked))
      returning email_id),
    failed as (
      update emails e set status = 'FAILED', reason = '{"code": "project_disabled"}', updated_at = now()
      where e.id = any(array(select email_id from gone)) and e.status in ('PENDING', 'SENDING') and e.sent_at is null
      returning ${raw(endedColumns)}),
    counted as (${countingUnsent('failed', 'FAILED')}),
    ${raw(usageMoved('failed', 'false', 'true'))}`;
  const events = failedEvents('failed', sql`(select count(*) from usage_moved) >= 0`);
  const result = sql`select (select count(*) from gone)::integer as failed`;
  const row = await db.row<{ failed: number }>(recordingEvents({ given, events, result }));
  return row?.failed ?? 0;
}
