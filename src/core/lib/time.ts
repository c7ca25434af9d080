import { isBeyondOffsets } from '@fernpost/conditions';

/** The time now; rules that depend on time take one of these so that tests can choose it. */
export type Clock = () => Date;

/** The machine's own clock. */
export const systemClock: Clock = () => new Date();

const firstInstant = Date.parse('0001-01-01T00:00:00.000Z');
const lastInstant = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Reads a date as `new Date(text)` does; null when it is none, names an offset beyond ±15:59, or lies outside of the years 1 to 9999:
 * beyond them ISO text takes another form, which Postgres does not read.
 */
export function parseDate(value: string | number): Date | null {
  if (typeof value === 'string' && isBeyondOffsets(value)) return null;
  const date = new Date(value);
  const instant = date.getTime();
  return instant >= firstInstant && instant <= lastInstant ? date : null;
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

/** Does some work and answers no sooner than after so long, so that the time does not tell what had to be done. */
export async function noSoonerThan<T>(milliseconds: number, work: () => Promise<T>): Promise<T> {
  const [done] = await Promise.allSettled([work(), pause(milliseconds)]);
  if (done.status === 'rejected') throw done.reason;
  return done.value;
}

/** What the work answers, or `late` once so many milliseconds have passed. */
export async function within<T>(milliseconds: number, work: Promise<T>, late: T): Promise<T> {
  const timer = Promise.withResolvers<T>();
  const timeout = setTimeout(timer.resolve, milliseconds, late);
  return Promise.race([work, timer.promise]).finally(() => clearTimeout(timeout));
}
