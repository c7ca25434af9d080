import { type CallOptions, pause } from './http.ts';

/** How a method waits for work of the service. */
export interface WaitOptions extends Pick<CallOptions, 'headers' | 'signal' | 'timeoutMs'> {
  /** Milliseconds between two checks; 1,000 when absent. */
  everyMs?: number;
}

/** Checks again until it is done. @throws the reason of the signal, as soon as it aborts */
export async function poll<Value>(
  check: () => PromiseLike<Value>,
  isDone: (value: Value) => boolean,
  { everyMs = 1_000, signal }: WaitOptions,
): Promise<Value> {
  for (;;) {
    const value = await check();
    if (isDone(value)) return value;
    await pause(everyMs, signal);
  }
}
