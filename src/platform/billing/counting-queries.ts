import { raw } from '../../core/database/sql.ts';

// The month that an instant column counts for, in UTC.
const usageMonth = (instant: string) => `date_trunc('month', ${instant} at time zone 'UTC')::date`;

/** SQL: the running month of usage counters. */
export const thisMonth = raw(usageMonth('now()'));

/** SQL: what a ledger row counts as; see `usageCategory`. */
export const category = `case when source_type in ('CAMPAIGN', 'WORKFLOW') and message_class = 'TRANSACTIONAL' then 'TRANSACTIONAL' else source_type end`;

/**
 * A CTE `usage_corrected` for mail that was given up and then proved to be sent: it counts, and takes back the quota that it
 * had given back. Reads the CTE `moved`, with `corrected` beside what `usageMoved` asks of its rows.
 */
export const correctedUsage = `usage_corrected as (
    insert into usage_counters as u (project_id, month, category, settled)
    select project_id, ${usageMonth('created_at')}, ${category}, 1 from moved where corrected
    on conflict (project_id, month, category) do update set settled = u.settled + 1, failed = greatest(0, u.failed - 1)
    returning 1)`;

/**
 * A CTE `usage_moved` that counts mail which came to an end, in the statement that writes it down. `rows` names a CTE with
 * project_id, source_type, message_class and created_at of each ledger row; `settled` and `failed` are conditions on it: the
 * mail counts, or it gives back what it was let in for. Rows are counted in one order, so that two statements never
 * deadlock; whatever locks contacts in the same statement must do so after this.
 */
export function usageMoved(rows: string, settled: string, failed: string): string {
  return `usage_moved as (
    insert into usage_counters as u (project_id, month, category, settled, failed)
    select project_id, ${usageMonth('created_at')}, ${category},
      count(*) filter (where ${settled}), count(*) filter (where ${failed})
    from ${rows} group by 1, 2, 3 order by 1, 2, 3
    on conflict (project_id, month, category) do update set
      settled = u.settled + excluded.settled, failed = u.failed + excluded.failed
    returning 1)`;
}
