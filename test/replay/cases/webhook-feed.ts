import { newId } from '../../../src/lib/ids.ts';
import { workflowId } from '../../../temporal/commands.ts';
import { failed, type ReplayCase, type Script } from './case.ts';

const report = { delivered: 2, failed: 0, waitMs: null as number | null, isOn: true };

/** Ways through `webhookFeed`. */
export const webhookFeedCases: readonly ReplayCase[] = [
  feed('nothing-left', { deliverWebhooks: [report] }),
  feed('waits-and-goes-on', {
    deliverWebhooks: [
      { ...report, waitMs: 0 },
      failed,
      { ...report, failed: 1, waitMs: 20 },
      { ...report, waitMs: 900_000 },
    ],
  }),
  feed('switched-off', { deliverWebhooks: [{ ...report, isOn: false }] }),
];

function feed(name: string, answers: Script): ReplayCase {
  const endpointId = newId();
  return {
    name: `webhookFeed-${name}`,
    launch: {
      workflow: 'webhookFeed',
      id: workflowId.webhookFeed(endpointId),
      input: { endpointId },
      searchAttributes: { Kind: 'webhook-feed' },
    },
    answers,
    ends: 'COMPLETED',
  };
}
