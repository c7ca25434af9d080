import * as wf from '@temporalio/workflow';
import type { SystemMailActivities } from '../activities/system-mail.ts';

const { sendSystemMail } = wf.proxyActivities<SystemMailActivities>({
  startToCloseTimeout: '2 minutes',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '5 minutes' },
});

/** Sends one mail of the service itself; the row says when it is given up. */
export async function systemMail({ mailId }: { mailId: string }): Promise<string> {
  while (!wf.workflowInfo().continueAsNewSuggested) {
    const report = await sendSystemMail(mailId);
    if (report.state !== 'later') return report.state;
    wf.setCurrentDetails(`Tried again in ${Math.ceil(report.waitMs / 1000)} s`);
    await wf.sleep(report.waitMs);
  }
  return wf.continueAsNew<typeof systemMail>({ mailId });
}
