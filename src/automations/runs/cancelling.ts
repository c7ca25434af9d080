import { workflowId } from '../../../temporal/commands.ts';
import type { Database } from '../../core/database/sql.ts';
import { notFound } from '../../core/lib/errors.ts';
import type { OutboxTicket } from '../../core/outbox/enqueue.ts';
import type { Changed } from '../changed.ts';
import { findAutomation, found } from '../queries.ts';
import { executionBody } from '../rows.ts';
import { cancelRuns, findRun } from './queries.ts';
import type { ExecutionBody } from './schema.ts';

/** Ends a run; one that is over stays as it is. @throws 404 */
export async function cancelExecution(
  db: Database,
  projectId: string,
  automationId: string,
  id: string,
): Promise<Changed<ExecutionBody>> {
  return db.transaction(async (tx) => {
    found(await findAutomation(tx, projectId, automationId), automationId);
    const before = await findRun(tx, projectId, automationId, id);
    if (before === null) throw notFound('execution', id);
    const cancelled = await cancelRuns(tx, automationId, 'Cancelled by user', id);
    const after = await findRun(tx, projectId, automationId, id);
    if (after === null) throw notFound('execution', id);
    const execution: OutboxTicket = { workflowId: workflowId.automation(automationId, after.contactId, after.entry) };
    const { contact: _, currentStep: _step, currentStepSince: _since, ...body } = executionBody(after);
    return { body, tickets: cancelled > 0 ? [execution] : [] };
  });
}

/** Ends every active run of an automation by one statement; the outbox cancels their executions one after the other. @throws 404 */
export async function cancelExecutions(
  db: Database,
  projectId: string,
  automationId: string,
): Promise<{ cancelled: number }> {
  return db.transaction(async (tx) => {
    found(await findAutomation(tx, projectId, automationId), automationId);
    return { cancelled: await cancelRuns(tx, automationId, 'Cancelled by user (bulk cancel)') };
  });
}
