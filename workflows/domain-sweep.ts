import * as wf from '@temporalio/workflow';
import type { DomainActivities } from '../activities/domains.ts';

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

/** What a round over the sender domains came to. */
export interface DomainRound {
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
    if (wf.workflowInfo().continueAsNewSuggested) await wf.continueAsNew<typeof domainSweep>(round);
  }
}

function orCancelled(error: unknown): void {
  if (wf.isCancellation(error)) throw error;
}
