import { WorkflowNotFoundError } from '@temporalio/client';
import type { TemporalConnection } from '../../../temporal/connection.ts';
import { type Database, type Sql, statement } from '../database/sql.ts';

/** An execution of the reconciler. */
export interface ReconcilePass {
  workflowId: string;
  runId: string;
}

/** What is known of the Temporal store. */
export interface StoreState {
  /** ISO instant at which it was found to have lost executions; null when that never happened. */
  changedAt: string | null;
  /** Whether that was found just now. */
  isNews: boolean;
}

/** What comparing the store needs. */
export interface StoreCheckDeps {
  db: Database;
  /** Setting TEMPORAL_TASK_QUEUE. */
  queuePrefix: string;
  /** Whether Temporal knows this execution, open or closed. Rejects when it cannot be asked. */
  isKnown(pass: ReconcilePass): Promise<boolean>;
}

const lastPass = statement(
  'temporal_stores.last_pass',
  `select workflow_id as "workflowId", run_id as "runId", changed_at::text as "changedAt"
   from temporal_stores where task_queue = $1`,
);
const notePass = statement(
  'temporal_stores.note_pass',
  `insert into temporal_stores as t (task_queue, workflow_id, run_id) values ($1, $2, $3)
   on conflict (task_queue) do update set workflow_id = excluded.workflow_id, run_id = excluded.run_id,
     changed_at = case when $4 then clock_timestamp() else t.changed_at end
   where t.run_id = $5
   returning changed_at::text as "changedAt"`,
);

/**
 * Notes an execution of the reconciler, and asks for the one that was noted before: a store that does not know it any more is
 * new, was emptied or was restored from a back-up. One that was off for longer than closed executions are kept looks the
 * same, which costs a pass over unfinished work and nothing else.
 */
export async function checkStore(deps: StoreCheckDeps, pass: ReconcilePass): Promise<StoreState> {
  const { db, queuePrefix } = deps;
  const last = await db.row<ReconcilePass & { changedAt: string | null }>(lastPass, [queuePrefix]);
  if (last?.runId === pass.runId) return { changedAt: last.changedAt, isNews: false };
  const isNews = last !== null && !(await deps.isKnown(last));
  const noted = await db.row<{ changedAt: string | null }>(notePass, [
    queuePrefix,
    pass.workflowId,
    pass.runId,
    isNews,
    last?.runId ?? null,
  ]);
  // Another execution of the reconciler was faster, and has told.
  if (noted === null) return { changedAt: await storeChangedAt(db, queuePrefix), isNews: false };
  return { changedAt: noted.changedAt, isNews };
}

const changed = statement(
  'temporal_stores.changed',
  'select changed_at::text as "changedAt" from temporal_stores where task_queue = $1',
);

/** The instant at which a reconciler last found that the store had lost executions, as Postgres writes it; null when never. */
export async function storeChangedAt(sql: Sql, queuePrefix: string): Promise<string | null> {
  return (await sql.row<{ changedAt: string | null }>(changed, [queuePrefix]))?.changedAt ?? null;
}

const askMs = 10_000;

/** Whether Temporal knows an execution, open or closed. Rejects when it cannot be asked. */
export async function isKnown(temporal: TemporalConnection, { workflowId, runId }: ReconcilePass): Promise<boolean> {
  try {
    await temporal.within(askMs, () => temporal.client.workflow.getHandle(workflowId, runId).describe());
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
