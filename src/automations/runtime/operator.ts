import { type Sql, statement } from '../../db/sql.ts';

const cancel = statement(
  'automation_runs.cancel_by_operator',
  `with cancelled as (
     update automation_runs set status = 'CANCELLED', exit_reason = 'Cancelled by operator', completed_at = clock_timestamp(),
       due_at = null, updated_at = now()
     where id = $1 and status in ('RUNNING', 'WAITING')
     returning id)
   update automation_step_runs x set status = 'SKIPPED', completed_at = clock_timestamp(), updated_at = now()
   from cancelled where x.run_id = cancelled.id and x.status in ('PENDING', 'SCHEDULED', 'WAITING', 'RUNNING')`,
);

/** Cancels a run whose execution was cancelled in the Web UI; one that has ended stays as it is. */
export async function cancelByOperator(sql: Sql, runId: string): Promise<void> {
  await sql.count(cancel, [runId]);
}
