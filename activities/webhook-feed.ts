import { cancellationSignal, heartbeat } from '@temporalio/activity';
import { deliverWebhooks, type WebhookDeps, type WebhookReport } from '../src/insight/webhooks/index.ts';

/** The activities of webhooks out, as workflows call them. */
export type WebhookFeedActivities = ReturnType<typeof webhookFeedActivities>;

const heartbeatMs = 2_000;

/** Builds the activities of webhooks out. */
export function webhookFeedActivities(deps: WebhookDeps & { stopping: AbortSignal }) {
  return {
    /** Queues and delivers events of an endpoint for up to half a minute. Safe to repeat. */
    async deliverWebhooks(endpointId: string): Promise<WebhookReport> {
      const alive = setInterval(heartbeat, heartbeatMs);
      try {
        return await deliverWebhooks(deps, endpointId, AbortSignal.any([deps.stopping, cancellationSignal()]));
      } finally {
        clearInterval(alive);
      }
    },
  };
}
