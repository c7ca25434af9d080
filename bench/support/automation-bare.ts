import * as wf from '@temporalio/workflow';

const { bareStep } = wf.proxyLocalActivities<{ bareStep(id: string, step: number): Promise<void> }>({
  startToCloseTimeout: '10 seconds',
});

/** As many local activities and timers as the automation that the benchmark runs beside it, and nothing else. */
export async function bare({ id, delayMs }: { id: string; delayMs: number }): Promise<void> {
  await bareStep(id, 1);
  await wf.sleep(delayMs);
  await bareStep(id, 2);
}

/** Ends the wait of `bareWaiting`. */
export const go = wf.defineSignal('go');

/** The same for runs that wait for an event: a local activity, a wait that a signal ends before its time, another one. */
export async function bareWaiting({ id, timeoutMs }: { id: string; timeoutMs: number }): Promise<void> {
  let isTold = false;
  wf.setHandler(go, () => {
    isTold = true;
  });
  await bareStep(id, 1);
  await wf.condition(() => isTold, timeoutMs);
  await bareStep(id, 2);
}
