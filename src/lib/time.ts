/** The time now; rules that depend on time take one of these so that tests can choose it. */
export type Clock = () => Date;

/** The machine's own clock. */
export const systemClock: Clock = () => new Date();

/** Reads a date as `new Date(text)` does; null when it is none. */
export function parseDate(value: string | number): Date | null {
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? null : date;
}

/** Waits; resolves early and quietly when the signal aborts. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal?.addEventListener('abort', done, { once: true });
  });
}
