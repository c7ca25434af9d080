import * as wf from '@temporalio/workflow';
import type { ErasureActivities, WipeActivities } from '../activities/erasure.ts';

// Somebody is half erased until it has ended: nothing here is given up.
const { eraseContactRows, eraseAtProvider, certifyErasure } = wf.proxyActivities<ErasureActivities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

// Requests that were accepted before have committed by then.
const firstPauseMs = 1_000;
const longestPauseMs = 5 * 60_000;

/** Erases a contact, issues the certificate, and goes on when what others keep has run out, until the certificate is final. */
export async function eraseContact({ erasureId }: { erasureId: string }): Promise<void> {
  await wf.sleep(firstPauseMs);
  for (;;) {
    if (!(await emptied(erasureId))) return;
    await eraseAtProvider(erasureId);
    const { waitMs } = await certifyErasure(erasureId);
    if (waitMs === null) return;
    wf.setCurrentDetails('Erased here; waiting until retention elsewhere has passed');
    await wf.sleep(waitMs);
  }
}

async function emptied(erasureId: string): Promise<boolean> {
  for (let pauseMs = firstPauseMs; ; ) {
    const state = await eraseContactRows(erasureId);
    if (state === 'emptied' || state === 'gone') return state === 'emptied';
    wf.setCurrentDetails(state === 'unfinished' ? 'Emptying rows' : `Waiting: ${state}`);
    if (state === 'unfinished') continue;
    await wf.sleep(pauseMs);
    pauseMs = Math.min(2 * pauseMs, longestPauseMs);
  }
}

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
