import { type Database, sql } from '../../core/database/sql.ts';

/** Cancels a run whose execution was cancelled in the Web UI; one that has ended stays as it is. */
export async function cancelByOperator(db: Database, runId: string): Promise<void> {
  await db.transaction(async (tx) => {
    const cancelled = await tx.count(sql`
      update automation_runs set status = 'CANCELLED', exit_reason = 'Cancelled by operator',
        completed_at = clock_timestamp(), due_at = null, updated_at = now()
      where id = ${runId} and status in ('RUNNING', 'WAITING')`);
    // A statement of its own sees the step that the first one may have waited for.
    if (cancelled > 0)
      await tx.count(sql`
        update automation_step_runs set status = 'SKIPPED', completed_at = clock_timestamp(), updated_at = now()
        where run_id = ${runId} and status in ('PENDING', 'SCHEDULED', 'WAITING', 'RUNNING')`);
  });
}
