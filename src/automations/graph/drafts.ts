import type { Database } from '../../core/database/sql.ts';
import { recordChange } from '../../platform/audit/index.ts';
import { found, lockAutomation, reviseGraphOf, stepsOf, transitionsOf } from '../queries.ts';
import { checkRevision, type Edited, type EditTarget, keepSenders } from '../revision.ts';
import type { AutomationRow, StepRow, TransitionRow } from '../rows.ts';

/** An automation that is being edited: its row is locked, so that edits come one after the other. */
export interface Draft {
  automation: AutomationRow;
  steps: StepRow[];
  transitions: TransitionRow[];
}

/**
 * Runs an edit of a graph in a transaction; the next start sees it.
 * @throws 404, 412 where the editor has seen another revision
 */
export function edit<T>(
  { db, projectId, id, userId, ifMatch }: EditTarget,
  work: (tx: Database, draft: Draft) => Promise<T>,
): Promise<Edited<T>> {
  return db.transaction(async (tx) => {
    const automation = found(await lockAutomation(tx, projectId, id), id);
    await checkRevision(tx, automation, ifMatch);
    const draft = { automation, steps: await draftSteps(tx, id), transitions: await transitionsOf(tx, id) };
    const body = await work(tx, draft);
    if (automation.enabled) await keepSenders(tx, id);
    const revision = await reviseGraphOf(tx, id, userId);
    const change = { before: { revision: automation.revision }, after: { revision } };
    await recordChange(tx, projectId, { action: 'workflow.graph_edited', target: id, ...change });
    return { body, revision };
  });
}

/** The steps of a draft, in the order they were made. */
export async function draftSteps(tx: Database, id: string): Promise<StepRow[]> {
  return (await stepsOf(tx, id)).map(({ templateName: _, ...step }) => step);
}
