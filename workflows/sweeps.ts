import * as wf from '@temporalio/workflow';
import type { EnrolmentActivities } from '../activities/automation.ts';
import type { DomainActivities, SweepActivities, UsageActivities } from '../activities/sweeps.ts';
import type { Enrolment } from '../src/automations/enrollment/audience.ts';
import { scheduledStartTime } from '../temporal/commands.ts';
import { isHistoryLong } from './steps.ts';

/**
 * Options of a workflow that ends within minutes: it stays with the version of the workers that it began on. Its schedule starts the next one, so
 * that one whose version has no workers any more can be ended. A server refuses this of workers without a version.
 */
function pinned(): { versioningBehavior?: 'PINNED' } {
  return wf.workflowInfo().currentDeploymentVersion?.deploymentName ? { versioningBehavior: 'PINNED' } : {};
}

/** Milliseconds until work that found its project busy asks again, the `turn`th time in a row. */
export function pauseOf(turn: number): number {
  return Math.min(15_000, 500 * 2 ** turn);
}

// The next minute comes anyway, so a sweep that keeps failing ends and shows red instead of piling up.
const { runChecks, removeOldRows } = wf.proxyActivities<SweepActivities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { maximumAttempts: 3 },
});

/** Compares rows with what runs and puts right what a crash, or a lost Temporal store, left behind. Answers how much. */
export async function reconcile(): Promise<Record<string, number>> {
  return runChecks();
}

/** Removes rows that have been kept long enough. Answers how many of each kind. */
export async function retention(): Promise<Record<string, number>> {
  return removeOldRows();
}

const { checkDomainsPage, removeDomainLeftovers } = wf.proxyActivities<DomainActivities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumAttempts: 3 },
});
// docs/contract/platform.md#3-4: five tries, five seconds apart and then twice as long each time.
const { restartDomainCheck } = wf.proxyActivities<DomainActivities>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '5 seconds', backoffCoefficient: 2, maximumAttempts: 5 },
});

/** The result of a round over the sender domains. */
interface DomainRound {
  checked: number;
  failed: number;
  /** Domains for whose records the provider had stopped looking. */
  stopped: number;
  removed: number;
}

/**
 * Checks the DNS records of every sender domain whose check is due, page by page: the schedule starts it every five
 * minutes. Where the provider has stopped looking it is asked to begin again. Answers what that came to.
 */
export async function domainSweep(soFar?: DomainRound): Promise<DomainRound> {
  const round = soFar ?? { checked: 0, failed: 0, stopped: 0, removed: await removeDomainLeftovers() };
  for (;;) {
    const page = await checkDomainsPage();
    round.checked += page.checked;
    round.failed += page.failed;
    round.stopped += page.stopped.length;
    // One that stays stopped is met again by the next round.
    await Promise.all(page.stopped.map((id) => restartDomainCheck(id).catch(orCancelled)));
    if (!page.more) return round;
    if (isHistoryLong()) await wf.continueAsNew<typeof domainSweep>(round);
  }
}

function orCancelled(error: unknown): void {
  if (wf.isCancellation(error)) throw error;
}

const { tellOfUsage, reportUsage } = wf.proxyActivities<UsageActivities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '1 minute',
  // The next minute comes anyway.
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumAttempts: 3 },
});

/** Notifies members of limits that come near, and reports mail that is paid for. Answers how much of each. */
export async function usageSweep(): Promise<{ notified: number; reported: number }> {
  const notified = await tellOfUsage();
  return { notified, reported: await reportUsage() };
}

const { enrolScheduledAudience } = wf.proxyActivities<EnrolmentActivities>({
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

/**
 * Lets the audience of an automation in, at one time of its schedule. Started by Temporal; the time is the one that was
 * scheduled, so that a start which is late, or made up for, is still the start of that time.
 */
export async function enrolScheduled({ automationId }: { automationId: string }): Promise<Enrolment> {
  const { typedSearchAttributes, startTime } = wf.workflowInfo();
  const fireTime = (typedSearchAttributes.get(scheduledStartTime) ?? startTime).toISOString();
  const enrolment = await enrolScheduledAudience(automationId, fireTime);
  wf.setCurrentDetails(`${enrolment.enrolled} contacts arrive for ${fireTime}`);
  return enrolment;
}

wf.setWorkflowOptions(pinned, reconcile);
wf.setWorkflowOptions(pinned, retention);
wf.setWorkflowOptions(pinned, domainSweep);
wf.setWorkflowOptions(pinned, usageSweep);
