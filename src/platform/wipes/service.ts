import { type StartCommand, workflowId } from '../../../temporal/commands.ts';
import type { Database, Sql } from '../../core/database/sql.ts';
import { conflict } from '../../core/lib/errors.ts';
import { newId } from '../../core/lib/ids.ts';
import { pause } from '../../core/lib/time.ts';
import { enqueue, type OutboxTicket } from '../../core/outbox/enqueue.ts';
import {
  insertWipe,
  isWipeFinished,
  type LeftBehind,
  markForDeletion,
  markForReset,
  type WipeKind,
} from './queries.ts';

/** A wipe that was put in line, and the ticket that starts it after the commit. */
export interface NewWipe {
  id: string;
  ticket: OutboxTicket;
}

/**
 * Marks a project as being reset and puts in line that everything of it but itself is deleted (contract page 3, 2.5).
 * @throws 409 while it is being reset
 */
export function resetProject(db: Database, projectId: string): Promise<NewWipe> {
  return db.transaction(async (sql) => {
    if (!(await markForReset(sql, projectId))) throw conflict('This project is already being reset');
    return queueWipe(sql, projectId, 'RESET', null);
  });
}

/**
 * Takes a project away: with the commit its keys, members and domains are gone, and everything else is removed in the
 * background. `leave` is told in the same transaction what the project leaves behind elsewhere.
 * @throws 409 while it is being reset
 */
export function deleteProject(
  db: Database,
  projectId: string,
  leave: (sql: Sql, left: LeftBehind) => Promise<void>,
): Promise<NewWipe> {
  return db.transaction(async (sql) => {
    const left = await markForDeletion(sql, projectId);
    if (left === null) throw conflict('This project is already being reset or deleted');
    await leave(sql, left);
    return queueWipe(sql, projectId, 'DELETE', left.subscription);
  });
}

async function queueWipe(sql: Sql, projectId: string, kind: WipeKind, subscription: string | null): Promise<NewWipe> {
  const id = newId();
  await insertWipe(sql, { id, projectId, kind, subscription });
  return { id, ticket: await enqueue(sql, startOfWipe(id)) };
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
export async function waitForWipe(sql: Sql, id: string, longestMs: number): Promise<boolean> {
  const deadline = performance.now() + longestMs;
  for (let wait = 50; ; wait = Math.min(wait * 2, 1_000)) {
    if (await isWipeFinished(sql, id)) return true;
    if (performance.now() + wait > deadline) return false;
    await pause(wait);
  }
}
