import type { Pool } from 'pg';
import { isConflict, isDatabaseError, passingFailure } from './connection.ts';

/** A write that can share a statement with others of its group: of its project, or of its kind. */
export interface GroupedCall {
  /** Calls with the same name never share a statement. */
  unique: string;
}

/** The handle that runs a group's statement; calls of different authors never share one. */
export interface GroupingHandle {
  readonly pool: Pool;
  readonly author: { kind: string; id: string | null } | null;
}

interface Waiting<Call, Result> {
  call: Call;
  resolve(result: Result | null): void;
  reject(error: unknown): void;
}

interface Group<Call, Result> {
  waiting: Waiting<Call, Result>[];
  running: number;
}

const usuallyAtOnce = 2;
const mostCalls = 100;

/**
 * Lets the same write of many requests share one statement and one commit: `run` makes it for several calls of a group, and answers
 * for each its result, or null. Null means that nothing was written for the call, and that the caller has to make its write by itself:
 * also when the statement was refused or met another change, for which any one of its calls may be the reason. A call resolves after
 * the commit. While `atOnce` statements of a group are under way, what comes waits and is the next one. So a request alone waits for nobody, and
 * under load statements grow by themselves.
 */
export function groupCalls<Call extends GroupedCall, Result, Handle extends GroupingHandle>(
  run: (db: Handle, scope: string, calls: readonly Call[]) => Promise<readonly (Result | null)[]>,
  atOnce = usuallyAtOnce,
): (db: Handle, scope: string, call: Call) => Promise<Result | null> {
  const pools = new WeakMap<Pool, Map<string, Group<Call, Result>>>();
  return (db, scope, call) =>
    new Promise((resolve, reject) => {
      const groups = pools.get(db.pool) ?? new Map<string, Group<Call, Result>>();
      pools.set(db.pool, groups);
      // Callers do not share a statement with others, for it has one author.
      const name = `${scope} ${db.author?.kind} ${db.author?.id}`;
      const group = groups.get(name) ?? { waiting: [], running: 0 };
      groups.set(name, group);
      group.waiting.push({ call, resolve, reject });
      // Calls that arrived together are read in the same turn of the event loop.
      if (group.waiting.length === 1) setImmediate(start, db, scope, group, () => groups.delete(name));
    });

  function start(db: Handle, scope: string, group: Group<Call, Result>, forget: () => void): void {
    while (group.running < atOnce && group.waiting.length > 0) {
      group.running += 1;
      void settle(db, scope, takeDistinct(group)).finally(() => {
        group.running -= 1;
        if (group.running === 0 && group.waiting.length === 0) forget();
        start(db, scope, group, forget);
      });
    }
  }

  async function settle(db: Handle, scope: string, taken: readonly Waiting<Call, Result>[]): Promise<void> {
    try {
      const results = await run(
        db,
        scope,
        taken.map(({ call }) => call),
      );
      for (const [place, { resolve }] of taken.entries()) resolve(results[place] ?? null);
    } catch (error) {
      // A connection that was lost may have committed: whoever asked must hear that nobody knows.
      // A conflict of one call is no reason to refuse the others.
      const isRefused =
        (taken.length > 1 && isConflict(error)) || (isDatabaseError(error) && passingFailure(error) === null);
      for (const { resolve, reject } of taken) isRefused ? resolve(null) : reject(error);
    }
  }
}

function takeDistinct<Call extends GroupedCall, Result>(group: Group<Call, Result>): Waiting<Call, Result>[] {
  const names = new Set<string>();
  const taken: Waiting<Call, Result>[] = [];
  group.waiting = group.waiting.filter((one) => {
    if (taken.length === mostCalls || names.has(one.call.unique)) return true;
    names.add(one.call.unique);
    taken.push(one);
    return false;
  });
  return taken;
}
