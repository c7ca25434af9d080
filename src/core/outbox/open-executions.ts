import { taskQueue } from '../../../temporal/commands.ts';
import type { TemporalConnection } from '../../../temporal/connection.ts';

const listDeadlineMs = 20_000;

/** A page of open executions, newest first. */
export interface OpenExecutions {
  workflowIds: string[];
  /** ISO instant at which the oldest of them started; null when there are no older ones. */
  oldest: string | null;
}

/**
 * The open executions of automations of this installation that started before an instant, newest first, up to `limit`.
 * Visibility is a little behind: what began or ended in the last seconds may be missing or listed still.
 */
export async function openAutomations(
  temporal: TemporalConnection,
  queuePrefix: string,
  before: string,
  limit: number,
): Promise<OpenExecutions> {
  const query = [
    `WorkflowType = "automation"`,
    `ExecutionStatus = "Running"`,
    // Another installation may share the namespace.
    `TaskQueue = "${taskQueue(queuePrefix, 'automation')}"`,
    `StartTime < "${before}"`,
  ].join(' AND ');
  return temporal.within(listDeadlineMs, async () => {
    const workflowIds: string[] = [];
    let oldest: string | null = null;
    for await (const { workflowId, startTime } of temporal.client.workflow.list({ query, pageSize: limit })) {
      workflowIds.push(workflowId);
      oldest = startTime.toISOString();
      if (workflowIds.length === limit) return { workflowIds, oldest };
    }
    return { workflowIds, oldest: null };
  });
}
