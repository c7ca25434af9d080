import { newId } from '../../../src/lib/ids.ts';
import { workflowId } from '../../../temporal/commands.ts';
import { cancelling, failed, failedForGood, type ReplayCase, type Script } from './case.ts';

const unfinished = { state: 'unfinished', contacts: 50_000 } as const;
const busy = { state: 'busy', contacts: 0 } as const;
const over = { state: 'over', contacts: 61_000 } as const;

/** Ways through `dryRun`. */
export const dryRunCases: readonly ReplayCase[] = [
  review('several-shares', { reviewContacts: [unfinished, failed, over] }),
  review('beside-another-of-the-project', { reviewContacts: [busy, unfinished, busy, busy, over] }),
  review('given-up', { reviewContacts: [unfinished, failedForGood], failDryRun: [undefined] }),
  review('cancelled-in-the-ui', { reviewContacts: [cancelling(unfinished)], failDryRun: [failed, undefined] }),
];

function review(name: string, answers: Script): ReplayCase {
  const campaignId = newId();
  return {
    name: `dryRun-${name}`,
    launch: {
      workflow: 'dryRun',
      id: workflowId.dryRun(campaignId, 1),
      input: { dryRunId: newId() },
      searchAttributes: { ProjectId: newId(), CampaignId: campaignId, Kind: 'dry-run' },
    },
    answers,
    // One that failed, or was cancelled, has said so in its row.
    ends: 'COMPLETED',
  };
}
