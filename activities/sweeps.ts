import { activityInfo, heartbeat } from '@temporalio/activity';
import type { Logger } from 'pino';
import { type NoticeDeps, tellOfUsage } from '../src/billing/notices.ts';
import { type ReportDeps, reportUsage } from '../src/billing/reports.ts';
import type { CheckDeps } from '../src/domains/checks.ts';
import { checkDueDomains, type DomainPage, removeLeftovers, restartDomain } from '../src/domains/sweep.ts';
import type { ReconcilePass, StoreState } from '../src/store/outbox/store-state.ts';
import { alive } from './mail.ts';

/** The activities of sender domains, as workflows call them. */
export type DomainActivities = ReturnType<typeof domainActivities>;

/** Builds the activities that look after sender domains. Safe to repeat. */
export function domainActivities(deps: CheckDeps) {
  return {
    /** Checks a page of the domains whose check is due. */
    checkDomainsPage: (): Promise<DomainPage> => checkDueDomains(deps, heartbeat),

    /** Asks the provider to look for a domain's records again; rejects while it does not. */
    restartDomainCheck: (id: string): Promise<void> => restartDomain(deps, id),

    /** Removes at the provider what was deleted here while it could not be asked. Answers how many. */
    removeDomainLeftovers: (): Promise<number> => removeLeftovers(deps),
  };
}

/** The activities of usage and billing, as workflows call them. */
export type UsageActivities = ReturnType<typeof usageActivities>;

const heartbeatMs = 10_000;
// The schedule comes every minute; what is left is reported then.
const longestMs = 5 * 60_000;

/** Builds the activities that notify members of usage and report it. Safe to repeat. */
export function usageActivities(deps: NoticeDeps & ReportDeps & { stopping: AbortSignal }) {
  return {
    /** Notifies members of limits that come near or are reached. Answers how many notices. */
    tellOfUsage: (): Promise<number> => alive(heartbeatMs, () => tellOfUsage(deps)),

    /** Reports mail to the payment processor. Answers how many mails. */
    reportUsage(): Promise<number> {
      const end = performance.now() + longestMs;
      return alive(heartbeatMs, () => reportUsage(deps, () => !deps.stopping.aborted && performance.now() < end));
    },
  };
}

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

interface SweepActivityDeps {
  checks: readonly ReconcileCheck[];
  rules: readonly RetentionRule[];
  log: Logger;
  /** Compares the Temporal store with what it was; `pass` is the execution that asks. */
  checkStore(pass: ReconcilePass): Promise<StoreState>;
}

/** The activities of the sweeps, as workflows call them. */
export type SweepActivities = ReturnType<typeof sweepActivities>;

const rowsPerStatement = 5000;
// The schedule comes every hour, before which the activity would be ended; what is left is removed then.
const longestRemovalMs = 8 * 60_000;

/** Builds the activities of the sweeps. */
export function sweepActivities({ checks, rules, log, checkStore }: SweepActivityDeps) {
  return {
    /** Runs every check, whether or not others fail. Rejects afterwards when one failed. */
    async runChecks(): Promise<Record<string, number>> {
      const changedAt = await storeChangedAt();
      return all(checks, (check) => check.run(changedAt));
    },

    /** Applies every retention rule until nothing old is left, or for eight minutes; each at least once. */
    async removeOldRows(): Promise<Record<string, number>> {
      const end = performance.now() + longestRemovalMs;
      return all(rules, async (rule) => {
        let removed = 0;
        for (;;) {
          const count = await rule.removeSome(rowsPerStatement);
          removed += count;
          if (count < rowsPerStatement || performance.now() > end) return removed;
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
