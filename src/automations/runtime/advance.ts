import type { Database, Sql } from '../../core/database/sql.ts';
import type { BillingSettings } from '../../platform/billing/index.ts';
import type { Directive } from './directive.ts';
import { RoomFirst, type RoomWish, takeRooms } from './room.ts';
import { lockContactOf, lockOpenStepRun, lockRun } from './run-queries.ts';
import { walk } from './walk.ts';

/** What advancing runs needs. */
export interface AdvanceDeps {
  db: Database;
  billing: BillingSettings;
  /** Says that a project has mail in its queue; called after the commit. */
  wake(projectId: string): void;
}

interface Advanced {
  directive: Directive;
  /** The project whose delivery is to be woken, or null. */
  mailFor: string | null;
}

// Each step of one transaction may ask for room once; beyond that others move the run at the same time.
const mostAttempts = 60;

/**
 * Moves a run on, in one transaction, as far as it goes without waiting, and answers what its execution does next (contract
 * page 2, 4.6). `seq` is what the last directive said; null stands for what the row says. May be repeated: a number that the
 * run has left behind changes nothing and answers what the run waits for now.
 */
export async function advance(deps: AdvanceDeps, runId: string, seq: number | null): Promise<Directive> {
  let wishes: RoomWish[] = [];
  for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
    try {
      const { directive, mailFor } = await deps.db.transaction((sql) => move(deps, sql, runId, seq, wishes));
      if (mailFor !== null) deps.wake(mailFor);
      return directive;
    } catch (error) {
      if (error instanceof RoomFirst) wishes = [...wishes, error.wish];
      else if (error instanceof RoomLeftOver) wishes = [];
      else throw error;
    }
  }
  throw new Error(`The run ${runId} changes faster than it can be moved on`);
}

class RoomLeftOver extends Error {}

async function move(
  deps: AdvanceDeps,
  sql: Sql,
  runId: string,
  seq: number | null,
  wishes: readonly RoomWish[],
): Promise<Advanced> {
  const room = await takeRooms(sql, deps.billing, wishes);
  const contact = await lockContactOf(sql, runId);
  const run = await lockRun(sql, runId);
  if (run === null || contact === null) {
    if (!room.isUsedUp()) throw new RoomLeftOver();
    return { directive: { next: 'done', seq: seq ?? 0, status: 'GONE', reason: null, stepId: null }, mailFor: null };
  }
  const open = await lockOpenStepRun(sql, run.id, run.seq);
  const mayAct = seq === null || seq === run.seq;
  const { directive, hasMail } = await walk({ sql, run, contact, room }, open, mayAct);
  if (!room.isUsedUp()) throw new RoomLeftOver();
  return { directive, mailFor: hasMail ? run.projectId : null };
}
