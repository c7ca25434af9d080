import * as v from 'valibot';

/** A text in what a provider posts; absent or of another type it reads as empty. */
export const text = v.fallback(v.string(), '');
export const texts = v.fallback(v.array(v.string()), []);

const uuid = v.fallback(v.nullable(v.pipe(v.string(), v.uuid())), null);

/** An id of ours that travelled with a mail; null for what cannot be one. */
export const ourId = (value: string | undefined): string | null => v.parse(uuid, value ?? null);

const firstInstant = Date.parse('0001-01-01T00:00:00.000Z');
const lastInstant = Date.parse('9999-12-31T23:59:59.999Z');

/** The first of the dates that can be read and lies in the years 1 to 9999, which Postgres reads, as ISO; else that of `now`. */
export function firstReadable(now: Date, ...dates: readonly string[]): string {
  const readable = dates.map((date) => new Date(date)).find((date) => +date >= firstInstant && +date <= lastInstant);
  return (readable ?? now).toISOString();
}
