import * as wf from '@temporalio/workflow';
import type { UsageActivities } from '../activities/usage.ts';

const { tellOfUsage, reportUsage } = wf.proxyActivities<UsageActivities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '1 minute',
  // The next minute comes anyway.
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumAttempts: 3 },
});

/** Notifies members of limits that come near, and reports mail that is paid for. Answers how much of each. */
export async function usageSweep(): Promise<{ told: number; reported: number }> {
  const told = await tellOfUsage();
  return { told, reported: await reportUsage() };
}
