import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves after so many milliseconds, or early and quietly when the signal aborts. */
export async function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
}
