import * as wf from '@temporalio/workflow';
import type { WipeActivities } from '../activities/wipe.ts';

// A project that is half gone has to go on: nothing here is given up.
const { endProjectExecutions, wipeProjectRows, finishProjectWipe } = wf.proxyActivities<WipeActivities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

const looks = 5;

/** Resets or removes a project: ends what runs for it, removes its rows share after share, and clears or takes its mark. */
export async function wipeProject({ wipeId }: { wipeId: string }): Promise<number> {
  // The list of open executions lags behind, and one that was just started may not be on it yet.
  for (let look = 0; look < looks; look++) {
    const ended = await endProjectExecutions(wipeId);
    if (ended === 0 && look > 0) break;
    await wf.sleep(200);
  }
  for (;;) {
    const { state, removed } = await wipeProjectRows(wipeId);
    wf.setCurrentDetails(`${removed} rows removed`);
    if (state === 'unfinished') continue;
    await finishProjectWipe(wipeId);
    return removed;
  }
}
