import { LockMode } from '@mikro-orm/core';
import { removeSome } from '../../core/database/remove-some.ts';
import { type Database, raw, sql } from '../../core/database/sql.ts';
import { restartable } from '../../core/outbox/recovery.ts';
import { ProjectWipe } from './entity.ts';
import { findWipe, finishWipe, stalledWipes } from './queries.ts';
import { startOfWipe } from './service.ts';
import { type WipedTable, wipedTables } from './tables.ts';

/** How long an activity may work on a wipe, and who is told how far it is. */
export interface WipeShare {
  longestMs: number;
  stop: AbortSignal;
  onStep(removed: number): void;
}

/** How far a wipe is. `gone`: it was finished before. */
export interface WipeReport {
  state: 'unfinished' | 'emptied' | 'gone';
  /** Rows removed so far, without those that went along. */
  removed: number;
}

/**
 * Removes rows of a project, some thousands in a transaction that also notes the place, until a whole pass over the
 * tables finds nothing or the share is used up. What was written meanwhile, by a report of the provider or by work that
 * was not yet stopped, is found by the next pass.
 */
export async function wipeRows(db: Database, wipeId: string, share: WipeShare): Promise<WipeReport> {
  const deadline = performance.now() + share.longestMs;
  for (;;) {
    const wipe = await findWipe(db, wipeId);
    if (wipe === null) return { state: 'gone', removed: 0 };
    const tables = wipedTables[wipe.kind];
    const table = tables[wipe.place];
    if (table === undefined && wipe.removedInPass === 0) return { state: 'emptied', removed: wipe.removed };
    if (share.stop.aborted || performance.now() > deadline) return { state: 'unfinished', removed: wipe.removed };
    await db.transaction((tx) => takeStep(tx, wipe, table));
    share.onStep(wipe.removed);
  }
}

async function takeStep(
  tx: Database,
  { id, pass, place, after }: ProjectWipe,
  table: WipedTable | undefined,
): Promise<void> {
  const stillThere = { id, finishedAt: null, pass, place, after };
  const wipe = await tx.em.findOne(ProjectWipe, stillThere, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (wipe === null) return;
  if (table === undefined) {
    Object.assign(wipe, { place: 0, after: null, pass: pass + 1, removedInPass: 0 });
    return;
  }
  const page = await removePage(tx, table, wipe);
  const stays = page.seen === table.rows;
  wipe.place = stays ? place : place + 1;
  wipe.after = stays ? page.last : null;
  wipe.removedInPass += page.removed;
  wipe.removed += page.removed;
}

interface Page {
  seen: number;
  removed: number;
  last: string | null;
}

// Names of tables come from our own list, never from a request.
async function removePage(
  tx: Database,
  { table, by, rows }: WipedTable,
  { projectId, after }: ProjectWipe,
): Promise<Page> {
  if (by === 'any') {
    const removed = await removeSome(tx, table, sql`project_id = ${projectId}`, rows);
    return { seen: removed, removed, last: null };
  }
  const name = raw(table);
  // Along the index and from the last id on: rows that are gone already would otherwise be passed again by each page.
  const page = await tx.row<Page>(sql`
    with page as materialized (
      select id from ${name} where project_id = ${projectId} and (${after}::uuid is null or id > ${after}::uuid)
        order by id limit ${rows}),
    gone as (delete from ${name} where project_id = ${projectId} and id in (select id from page) returning 1)
    select (select count(*) from page)::int as seen, (select count(*) from gone)::int as removed,
      (select id from page order by id desc limit 1) as last`);
  return page ?? { seen: 0, removed: 0, last: null };
}

/** Ends a wipe whose rows are gone. It stays open where `cancelSubscription` rejects. */
export async function endWipe(
  db: Database,
  wipeId: string,
  cancelSubscription: (subscription: string) => Promise<void>,
): Promise<boolean> {
  const wipe = await findWipe(db, wipeId);
  if (wipe === null) return false;
  if (wipe.subscription) await cancelSubscription(wipe.subscription);
  return db.transaction((tx) => finishWipe(tx, wipe));
}

/** Resets and removals of projects whose execution may be lost. */
export const recoverableWipes = restartable('wipes', stalledWipes, ({ id }) => startOfWipe(id));
