import * as wf from '@temporalio/workflow';
import type { CampaignActivities } from '../activities/campaign.ts';
import { pauseOf } from './turns.ts';

const regular = { startToCloseTimeout: '10 minutes', heartbeatTimeout: '10 seconds' } as const;
const { reviewContacts } = wf.proxyActivities<Pick<CampaignActivities, 'reviewContacts'>>({
  ...regular,
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute', maximumAttempts: 20 },
});
const { failDryRun } = wf.proxyActivities<Pick<CampaignActivities, 'failDryRun'>>(regular);

/**
 * Reviews a campaign before it is sent, share after share; the row holds place and findings. Cancelling the execution in the Web
 * UI ends the dry run as failed. Answers how many contacts were passed.
 */
export async function dryRun({ dryRunId }: { dryRunId: string }): Promise<number> {
  let contacts = 0;
  try {
    for (let turn = 0; ; ) {
      const share = await reviewContacts(dryRunId);
      ({ contacts } = share);
      if (share.state === 'busy') {
        await wf.sleep(pauseOf(turn++));
        continue;
      }
      turn = 0;
      wf.setCurrentDetails(`${contacts} contacts passed`);
      if (share.state === 'over') return contacts;
      if (wf.workflowInfo().continueAsNewSuggested) await wf.continueAsNew<typeof dryRun>({ dryRunId });
    }
  } catch (error) {
    const cancelled = wf.isCancellation(error);
    if (!cancelled && !(error instanceof wf.ActivityFailure)) throw error;
    const reason = cancelled ? 'Cancelled by an operator' : 'Given up after too many failed attempts';
    await wf.CancellationScope.nonCancellable(() => failDryRun(dryRunId, reason));
    return contacts;
  }
}
