import { RecentResults } from '../../lib/keyed-turns.ts';
import type { Resolver } from './addresses/verify.ts';

declare module '../../http/context.ts' {
  interface App {
    /** Asks the DNS about the domains of addresses. */
    resolver: Resolver;
  }
}

/** How much to remember and for how long. Times are milliseconds. */
interface CacheOptions {
  /** Answers kept; the one unused for longest goes first. Default 10 000. */
  capacity?: number;
  /** How long a record that is there is believed. Default five minutes. */
  positiveMs?: number;
  /** How long a record that is missing is believed. Default one minute. */
  negativeMs?: number;
  /** The present instant in milliseconds. */
  now?: () => number;
}

/** Remembers the answers of another resolver for a short while, so that a list of addresses of one domain asks once. */
export function cachedResolver(
  resolver: Resolver,
  { capacity = 10_000, positiveMs = 300_000, negativeMs = 60_000, now = Date.now }: CacheOptions = {},
): Resolver {
  const answers = new RecentResults<boolean>({ entries: capacity, now });
  return {
    hasRecord: (name, type) =>
      answers.get(
        `${type} ${name}`,
        () => resolver.hasRecord(name, type),
        (found) => (found ? positiveMs : negativeMs),
      ),
  };
}
