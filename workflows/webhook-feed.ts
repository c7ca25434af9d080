import * as wf from '@temporalio/workflow';
import type { WebhookFeedActivities } from '../activities/jobs.ts';
import { siblingQueue, signals } from '../temporal/commands.ts';
import { isHistoryLong } from './steps.ts';

// Requests to strangers wait on a queue of their own.
const activities = () =>
  wf.proxyActivities<WebhookFeedActivities>({
    taskQueue: siblingQueue(wf.workflowInfo().taskQueue, 'http'),
    startToCloseTimeout: '10 minutes',
    heartbeatTimeout: '20 seconds',
    retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
  });

/** Says that the endpoint has something to do. */
const wake = wf.defineSignal(signals.wake);

// The watch of the workers finds deliveries that are due later.
const longestWaitMs = 600_000;

/** The state that a run passes to the next run of the same endpoint. */
interface Totals {
  delivered: number;
  failed: number;
}

/**
 * Delivers the events of one webhook endpoint in order of their sequence: woken by the watch, it works until nothing is due, and ends
 * when nothing is due within ten minutes. Cursor, queue and retries are rows, so a lost execution loses nothing.
 */
export async function webhookFeed({
  endpointId,
  soFar = { delivered: 0, failed: 0 },
}: {
  endpointId: string;
  soFar?: Totals;
}): Promise<Totals> {
  const { deliverWebhooks } = activities();
  const totals = { ...soFar };
  let woken = false;
  wf.setHandler(wake, () => {
    woken = true;
  });
  for (;;) {
    woken = false;
    const { delivered, failed, waitMs, isOn } = await deliverWebhooks(endpointId);
    totals.delivered += delivered;
    totals.failed += failed;
    wf.setCurrentDetails(`${totals.delivered} delivered, ${totals.failed} given up`);
    if (isHistoryLong()) await wf.continueAsNew<typeof webhookFeed>({ endpointId, soFar: totals });
    if (waitMs === 0 || woken) continue;
    if (!isOn || waitMs === null || waitMs > longestWaitMs) return totals;
    await wf.condition(() => woken, Math.ceil(waitMs));
  }
}
