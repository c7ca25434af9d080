import { type StartCommand, workflowId } from '../../../temporal/commands.ts';
import { conflict } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { pause } from '../../lib/time.ts';
import { recordChange } from '../../projects/audit/record.ts';
import { enqueue, type OutboxTicket } from '../../store/outbox/queries.ts';
import type { Database } from '../../store/sql.ts';
import { findWipe, type LeftBehind, markForDeletion, markForReset, ProjectWipe } from './queries.ts';

/** A wipe that was queued, and the ticket that starts it after the commit. */
export interface NewWipe {
  id: string;
  ticket: OutboxTicket;
}

/**
 * Marks a project as being reset and queues the deletion of everything in it (docs/contract/platform.md#2-5).
 * @throws 409 while it is being reset
 */
export function resetProject(db: Database, projectId: string): Promise<NewWipe> {
  return db.transaction(async (tx) => {
    if (!(await markForReset(tx, projectId))) throw conflict('This project is already being reset');
    await recordChange(tx, projectId, { action: 'project.reset', target: projectId });
    return queueWipe(tx, projectId, 'RESET', null);
  });
}

/**
 * Takes a project away: with the commit its keys, members and domains are gone, and everything else is removed in the
 * background. `leave` gets, in the same transaction, what the project leaves behind elsewhere.
 * @throws 409 while it is being reset
 */
export function deleteProject(
  db: Database,
  projectId: string,
  leave: (tx: Database, left: LeftBehind) => Promise<void>,
): Promise<NewWipe> {
  return db.transaction(async (tx) => {
    const left = await markForDeletion(tx, projectId);
    if (left === null) throw conflict('This project is already being reset or deleted');
    await leave(tx, left);
    await recordChange(tx, projectId, { action: 'project.deleted', target: projectId });
    return queueWipe(tx, projectId, 'DELETE', left.subscription);
  });
}

async function queueWipe(
  tx: Database,
  projectId: string,
  kind: ProjectWipe['kind'],
  subscription: string | null,
): Promise<NewWipe> {
  const id = newId();
  tx.em.create(ProjectWipe, { id, projectId, kind, subscription });
  return { id, ticket: await enqueue(tx, startOfWipe(id)) };
}

/** The command that starts the execution of a wipe. It names no project: those of the project's executions are ended. */
export function startOfWipe(id: string): StartCommand {
  return {
    type: 'start',
    workflow: 'wipeProject',
    id: workflowId.wipe(id),
    input: { wipeId: id },
    searchAttributes: { Kind: 'wipe' },
  };
}

/** Waits until a wipe is over, up to so many milliseconds; answers whether it is. */
export async function waitForWipe(db: Database, id: string, longestMs: number): Promise<boolean> {
  const deadline = performance.now() + longestMs;
  for (let wait = 50; ; wait = Math.min(wait * 2, 1_000)) {
    if ((await findWipe(db, id)) === null) return true;
    if (performance.now() + wait > deadline) return false;
    await pause(wait);
  }
}
