import type { Database, Sql } from '../../core/database/sql.ts';
import type { RecoverableKind } from '../../core/outbox/recovery.ts';
import { findWipe, finishWipe, lockWipeAt, moveWipe, stalledWipes, type Wipe } from './queries.ts';
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
    await db.transaction((sql) => takeStep(sql, wipe, table));
    share.onStep(wipe.removed);
  }
}

async function takeStep(sql: Sql, wipe: Wipe, table: WipedTable | undefined): Promise<void> {
  if ((await lockWipeAt(sql, wipe)) === null) return;
  if (table === undefined) {
    await moveWipe(sql, wipe.id, { place: 0, after: null, pass: wipe.pass + 1, removedInPass: 0, removed: 0 });
    return;
  }
  const page = await removePage(sql, table, wipe);
  const stays = page.seen === table.rows;
  await moveWipe(sql, wipe.id, {
    place: stays ? wipe.place : wipe.place + 1,
    after: stays ? page.last : null,
    pass: wipe.pass,
    removedInPass: wipe.removedInPass + page.removed,
    removed: page.removed,
  });
}

interface Page {
  seen: number;
  removed: number;
  last: string | null;
}

// Names of tables come from our own list, never from a request.
async function removePage(sql: Sql, { table, by, rows }: WipedTable, wipe: Wipe): Promise<Page> {
  if (by === 'any') {
    const removed = await sql.count(
      `delete from ${table} where ctid = any(array(select ctid from ${table} where project_id = $1 limit $2))`,
      [wipe.projectId, rows],
    );
    return { seen: removed, removed, last: null };
  }
  // Along the index and from the last id on: rows that are gone already would otherwise be passed again by each page.
  const page = await sql.row<Page>(
    `with page as materialized (
       select id from ${table} where project_id = $1 and ($2::uuid is null or id > $2) order by id limit $3),
     gone as (delete from ${table} where project_id = $1 and id in (select id from page) returning 1)
     select (select count(*) from page)::int as seen, (select count(*) from gone)::int as removed,
       (select id from page order by id desc limit 1) as last`,
    [wipe.projectId, wipe.after, rows],
  );
  return page ?? { seen: 0, removed: 0, last: null };
}

/** Ends a wipe whose rows are gone. `cancelSubscription` may fail: that is told, and nothing more. */
export async function endWipe(
  db: Database,
  wipeId: string,
  cancelSubscription: (subscription: string) => Promise<void>,
): Promise<boolean> {
  const wipe = await findWipe(db, wipeId);
  if (wipe === null) return false;
  if (wipe.subscription !== null) await cancelSubscription(wipe.subscription);
  return db.transaction((sql) => finishWipe(sql, wipe));
}

/** Resets and removals of projects whose execution may be lost. */
export const recoverableWipes: RecoverableKind = {
  name: 'wipes',
  afterMs: 5 * 60_000,
  async stalled(sql, query) {
    return (await stalledWipes(sql, query)).map(({ id, at }) => ({
      at,
      id,
      start: startOfWipe(id),
      wake: null,
      isOlder: false,
    }));
  },
};
