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
