import type { Resolver } from './resolver.ts';

/** How much to remember and for how long. Times are milliseconds. */
export interface CacheOptions {
  /** Answers kept; the one unused for longest makes room. Default 10 000. */
  capacity?: number;
  /** How long a record that is there is believed. Default five minutes. */
  positiveMs?: number;
  /** How long a record that is missing is believed, or a failure. Default one minute. */
  negativeMs?: number;
  /** The present instant in milliseconds. */
  now?: () => number;
}

interface Entry {
  answer: Promise<boolean>;
  expiresAt: number;
}

/** Remembers the answers of another resolver for a short while, so that a list of addresses of one domain asks once. */
export function cachedResolver(
  resolver: Resolver,
  { capacity = 10_000, positiveMs = 300_000, negativeMs = 60_000, now = Date.now }: CacheOptions = {},
): Resolver {
  // A Map keeps the order of insertion: taking an entry out and putting it back makes it the newest.
  const entries = new Map<string, Entry>();
  return {
    async hasRecord(name, type) {
      const key = `${type} ${name}`;
      const known = entries.get(key);
      entries.delete(key);
      if (known && now() < known.expiresAt) {
        entries.set(key, known);
        return known.answer;
      }
      // Shared from the first moment: callers at the same time wait for one lookup. It expires once it is answered.
      const entry: Entry = { answer: resolver.hasRecord(name, type), expiresAt: Number.POSITIVE_INFINITY };
      entries.set(key, entry);
      dropOldest(entries, capacity);
      const found = await entry.answer;
      entry.expiresAt = now() + (found ? positiveMs : negativeMs);
      return found;
    },
  };
}

function dropOldest(entries: Map<string, Entry>, capacity: number): void {
  if (entries.size <= capacity) return;
  const oldest = entries.keys().next();
  if (!oldest.done) entries.delete(oldest.value);
}
