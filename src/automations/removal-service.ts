import type { Database } from '../core/database/sql.ts';
import { conflict, notFound } from '../core/lib/errors.ts';
import { enqueue, type OutboxTicket } from '../core/outbox/enqueue.ts';
import { recordChange } from '../platform/audit/index.ts';
import type { Changed } from './changed.ts';
import { scheduleCommand } from './enrollment/triggers.ts';
import { deleteAutomations, findAutomation, found, hasActiveRuns, lockAutomationsForDeletion } from './queries.ts';
import { checkRevision } from './revision.ts';
import type { BulkUpdateWorkflows } from './schema.ts';

/**
 * Deletes automations with everything of them but their mail: all or none.
 * @throws 404 for an unknown id, 409 while executions are active, 412 where another revision was seen
 */
export function deleteAutomationsOf(db: Database, projectId: string, ids: readonly string[], ifMatch = '') {
  return db.transaction(async (tx) => {
    const automations = await lockAutomationsForDeletion(tx, projectId, ids);
    const known = new Set(automations.map(({ id }) => id));
    const unknown = ids.find((id) => !known.has(id));
    if (unknown !== undefined) throw notFound('workflow', unknown);
    for (const automation of automations) await checkRevision(tx, automation, ifMatch);
    if (await hasActiveRuns(tx, ids))
      throw conflict('A workflow with active executions cannot be deleted: cancel them first');
    const deleted = await deleteAutomations(tx, ids);
    const tickets: OutboxTicket[] = [];
    for (const automation of automations)
      if (automation.triggerType === 'SCHEDULE' && automation.enabled)
        tickets.push(await enqueue(tx, scheduleCommand({ ...automation, enabled: false }, 0)));
    for (const { id, name } of automations)
      await recordChange(tx, projectId, { action: 'workflow.deleted', target: id, before: { name } });
    return { deleted, tickets };
  });
}

/** Deletes several automations, all or none. @throws 404 for an unknown id, 409 while executions are active */
export async function bulkUpdateAutomations(
  db: Database,
  projectId: string,
  body: BulkUpdateWorkflows,
): Promise<Changed<{ deleted: number } | { updated: number }>> {
  const ids = [...new Set(body.ids)];
  if (body.delete === true) {
    const { deleted, tickets } = await deleteAutomationsOf(db, projectId, ids);
    return { body: { deleted }, tickets };
  }
  for (const id of ids) found(await findAutomation(db, projectId, id), id);
  return { body: { updated: 0 }, tickets: [] };
}
