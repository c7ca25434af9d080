import { activityInfo } from '@temporalio/activity';
import type { Logger } from 'pino';
import type { ReconcilePass, StoreState } from '../src/core/outbox/store-state.ts';
import { alive } from './alive.ts';

/** One thing that the reconciler checks every minute. Each subject adds its own to `activities/index.ts`. */
export interface ReconcileCheck {
  /** Shown in the result of the workflow and in logs. */
  name: string;
  /**
   * Finds what is stuck and puts it right; answers how many things it put right. Safe to run side by side. `changedAt` is
   * the ISO instant at which the Temporal store was last found to be new or older than before, or null.
   */
  run(changedAt: string | null): Promise<number>;
}

/** One kind of row that is removed when it is old enough. */
export interface RetentionRule {
  /** Shown in the result of the workflow and in logs. */
  name: string;
  /** Removes up to `limit` rows; answers how many. */
  removeSome(limit: number): Promise<number>;
}

/** What the sweeps are built from. */
export interface SweepActivityDeps {
  checks: readonly ReconcileCheck[];
  rules: readonly RetentionRule[];
  log: Logger;
  /** Compares the Temporal store with what it was; `pass` is the execution that asks. */
  checkStore(pass: ReconcilePass): Promise<StoreState>;
}

/** The activities of the sweeps, as workflows call them. */
export type SweepActivities = ReturnType<typeof sweepActivities>;

const rowsPerStatement = 5000;
const heartbeatMs = 10_000;

/** Builds the activities of the sweeps. */
export function sweepActivities({ checks, rules, log, checkStore }: SweepActivityDeps) {
  return {
    /** Runs every check, whether or not others fail. Rejects afterwards when one failed. */
    async runChecks(): Promise<Record<string, number>> {
      const changedAt = await storeChangedAt();
      return all(checks, (check) => check.run(changedAt));
    },

    /** Applies every retention rule until nothing old is left. */
    async removeOldRows(): Promise<Record<string, number>> {
      return all(rules, async (rule) => {
        let removed = 0;
        for (;;) {
          const count = await rule.removeSome(rowsPerStatement);
          removed += count;
          if (count < rowsPerStatement) return removed;
        }
      });
    },
  };

  async function storeChangedAt(): Promise<string | null> {
    const pass = activityInfo().workflowExecution;
    if (pass === undefined) return null;
    try {
      const { changedAt, isNews } = await checkStore(pass);
      if (isNews)
        log.warn(
          'the Temporal store is new or older than the rows, as after a restore: unfinished work goes on from its rows',
        );
      return changedAt;
    } catch (error) {
      log.warn({ err: error }, 'the Temporal store could not be compared with what it was; the next check does it');
      return null;
    }
  }

  async function all<Task extends { name: string }>(tasks: readonly Task[], run: (task: Task) => Promise<number>) {
    const counts: Record<string, number> = {};
    const failed: string[] = [];
    await alive(heartbeatMs, async () => {
      for (const task of tasks) {
        try {
          counts[task.name] = await run(task);
          if (counts[task.name] !== 0)
            log.info({ sweep: task.name, count: counts[task.name] }, 'sweep put things right');
        } catch (error) {
          failed.push(task.name);
          log.error({ err: error, sweep: task.name }, 'a sweep failed');
        }
      }
    });
    if (failed.length > 0) throw new Error(`These sweeps failed, the log says why: ${failed.join(', ')}`);
    return counts;
  }
}
