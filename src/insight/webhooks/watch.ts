import type { Logger } from 'pino';
import { signals, workflowId } from '../../../temporal/commands.ts';
import type { TemporalConnection } from '../../../temporal/connection.ts';
import { describeFailure } from '../../lib/network.ts';
import { signalOrStart } from '../../store/outbox/calls.ts';
import type { Database } from '../../store/sql.ts';
import { endpointsWithWork } from './feed.ts';

/** What a watch is built from. */
export interface WebhookWatchDeps {
  db: Database;
  temporal: TemporalConnection;
  /** Setting TEMPORAL_TASK_QUEUE. */
  queuePrefix: string;
  log: Logger;
}

// An execution watches its queue for longer than this after the last delivery.
const gapMs = 3_000;

/**
 * Builds the watch that a worker runs every second: it wakes the execution of each endpoint that has something to do. The rows
 * say so, so that writers of events do nothing for webhooks and a lost wake is repeated.
 */
export function createWebhookWatch({ db, temporal, queuePrefix, log }: WebhookWatchDeps): () => Promise<void> {
  let woken = new Map<string, number>();
  let failing = false;
  return async () => {
    const now = Date.now();
    woken = new Map([...woken].filter(([, at]) => now - at < gapMs));
    for (const { id, projectId } of await endpointsWithWork(db)) {
      if (woken.has(id)) continue;
      woken.set(id, now);
      await wake(id, projectId);
    }
  };

  async function wake(endpointId: string, projectId: string): Promise<void> {
    try {
      await signalOrStart(
        temporal,
        queuePrefix,
        {
          workflow: 'webhookFeed',
          id: workflowId.webhookFeed(endpointId),
          input: { endpointId },
          searchAttributes: { ProjectId: projectId, Kind: 'webhook-feed' },
          staticSummary: 'Delivers the events of one webhook endpoint',
        },
        signals.wake,
      );
      failing = false;
    } catch (error) {
      if (!failing)
        log.warn(
          { endpointId },
          `webhooks were not woken, the next look repeats it: ${describeFailure(error, temporal.settings)}`,
        );
      failing = true;
    }
  }
}
