import { type NoticeDeps, type ReportDeps, reportUsage, tellOfUsage } from '../src/platform/billing/index.ts';
import { alive } from './alive.ts';

/** The activities of usage and billing, as workflows call them. */
export type UsageActivities = ReturnType<typeof usageActivities>;

const heartbeatMs = 10_000;
// The schedule comes every minute; what is left is reported then.
const shareMs = 5 * 60_000;

/** Builds the activities that notify members of usage and report it. Safe to repeat. */
export function usageActivities(deps: NoticeDeps & ReportDeps & { stopping: AbortSignal }) {
  return {
    /** Notifies members of limits that come near or are reached. Answers how many notices. */
    tellOfUsage: (): Promise<number> => alive(heartbeatMs, () => tellOfUsage(deps)),

    /** Reports mail to the payment processor. Answers how many mails. */
    reportUsage(): Promise<number> {
      const end = performance.now() + shareMs;
      return alive(heartbeatMs, () => reportUsage(deps, () => !deps.stopping.aborted && performance.now() < end));
    },
  };
}
