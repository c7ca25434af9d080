import type { Database } from '../database/sql.ts';
import type { Clock } from '../lib/time.ts';
import { projectsWithWaitingMail } from './queries.ts';
import type { DeliveryWaker } from './wake.ts';

/** How long mail may be due before a sweep takes its wake for lost, in milliseconds. */
const overdueMs = 3000;
const firstPauseMs = 5000;
const longestPauseMs = 60_000;

/**
 * Builds the sweep that a worker runs every few seconds: it finds projects whose mail waits although nobody claims it, wakes
 * their delivery and answers how many it woke. A project that still has overdue mail the next time (its rate
 * limit holds it back, or the provider does) is woken less and less often, down to once a minute.
 */
export function createMailSweep(deps: { db: Database; waker: DeliveryWaker; clock: Clock }): () => Promise<number> {
  const woken = new Map<string, { dueAt: number; pauseMs: number }>();
  return async () => {
    const now = deps.clock().getTime();
    const projects = new Set(await projectsWithWaitingMail(deps.db, overdueMs));
    for (const id of woken.keys()) if (!projects.has(id)) woken.delete(id);
    let count = 0;
    for (const id of projects) {
      const last = woken.get(id);
      if (last !== undefined && now < last.dueAt) continue;
      const pauseMs = last === undefined ? firstPauseMs : Math.min(longestPauseMs, last.pauseMs * 2);
      woken.set(id, { dueAt: now + pauseMs, pauseMs });
      deps.waker.wake(id);
      count++;
    }
    return count;
  };
}
