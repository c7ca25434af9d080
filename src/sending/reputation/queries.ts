import { type Sql, statement } from '../../core/database/sql.ts';
import { usageMoved } from '../../platform/billing/index.ts';

const age = statement(
  'security.project',
  `select created_at::text as "createdAt", disabled from projects where id = $1`,
);

/** When a project was created and whether it is disabled, or null. */
export function projectAge(sql: Sql, projectId: string): Promise<{ createdAt: string; disabled: boolean } | null> {
  return sql.row(age, [projectId]);
}

const disable = statement(
  'security.disable',
  `update projects set disabled = true, disabled_reason = 'REPUTATION', updated_at = now() where id = $1 and not disabled`,
);

/** Disables a project for its reputation. Answers false when it was disabled already. */
export async function disableForReputation(sql: Sql, projectId: string): Promise<boolean> {
  return (await sql.count(disable, [projectId])) > 0;
}

// Mail in a claim may be with the provider: whoever holds the claim settles it.
const fail = statement(
  'security.fail_queued',
  `with gone as (
     delete from email_queue where email_id = any(array(
       select email_id from email_queue where project_id = $1 and claim_id is null
       order by due_at, email_id limit $2 for update skip locked))
     returning email_id),
   failed as (
     update emails e set status = 'FAILED', reason = '{"code": "project_disabled"}', updated_at = now()
     where e.id = any(array(select email_id from gone)) and e.status in ('PENDING', 'SENDING') and e.sent_at is null
     returning e.project_id, e.source_type, e.message_class, e.created_at),
   ${usageMoved('failed', 'false', 'true')}
   select (select count(*) from gone)::integer as failed, (select count(*) from usage_moved) as moved`,
);

/** Ends up to `limit` mails of a project that wait and are in no claim, because it is disabled. Answers how many. */
export async function failQueued(sql: Sql, projectId: string, limit: number): Promise<number> {
  return (await sql.row<{ failed: number }>(fail, [projectId, limit]))?.failed ?? 0;
}
