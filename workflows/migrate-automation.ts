import * as wf from '@temporalio/workflow';
import type { MigrationActivities } from '../activities/automation.ts';

const { movePeopleOfAutomation, cancelMigration } = wf.proxyActivities<MigrationActivities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

/**
 * Migrates the contacts inside an automation to another version of its graph, share after share. The row holds plan, place and
 * counts; cancelling the execution in the Web UI cancels the row. Answers how many contacts this execution has read.
 */
export async function migrateAutomation({ migrationId }: { migrationId: string }): Promise<number> {
  let people = 0;
  try {
    for (;;) {
      const share = await movePeopleOfAutomation(migrationId);
      people += share.people;
      wf.setCurrentDetails(`${people} people looked at`);
      if (share.state !== 'unfinished') return people;
      if (wf.workflowInfo().continueAsNewSuggested) await wf.continueAsNew<typeof migrateAutomation>({ migrationId });
    }
  } catch (error) {
    if (wf.isCancellation(error)) await wf.CancellationScope.nonCancellable(() => cancelMigration(migrationId));
    throw error;
  }
}
