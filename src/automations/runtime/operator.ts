import { type Database, statement } from '../../core/database/sql.ts';

const cancelRun = statement(
  'automation_runs.cancel_by_operator',
  `update automation_runs set status = 'CANCELLED', exit_reason = 'Cancelled by operator', completed_at = clock_timestamp(),
     due_at = null, updated_at = now()
   where id = $1 and status in ('RUNNING', 'WAITING')`,
);
const skipOpenStep = statement(
  'automation_runs.skip_by_operator',
  `update automation_step_runs set status = 'SKIPPED', completed_at = clock_timestamp(), updated_at = now()
   where run_id = $1 and status in ('PENDING', 'SCHEDULED', 'WAITING', 'RUNNING')`,
);

/** Cancels a run whose execution was cancelled in the Web UI; one that has ended stays as it is. */
export async function cancelByOperator(db: Database, runId: string): Promise<void> {
  await db.transaction(async (sql) => {
    // The second statement sees the step that the first one may have waited for.
    if ((await sql.count(cancelRun, [runId])) > 0) await sql.count(skipOpenStep, [runId]);
  });
}
