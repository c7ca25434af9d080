/** What a call came to: an answer, or the reason why there is none. */
export interface CallResult {
  statusCode: number | null;
  retryAfter: string | null;
}

/** What follows from a call. */
export interface CallConsequence {
  status: 'DELIVERED' | 'PENDING' | 'FAILED';
  /** When a pending delivery is tried again, in milliseconds from now. */
  dueInMs: number;
  /** How long the whole endpoint is left alone, in milliseconds. */
  restMs: number | null;
  /** The endpoint said that it is gone. */
  isGone: boolean;
}

const minute = 60_000;
const hour = 60 * minute;
// Standard Webhooks, "Retries": ten attempts over 75 hours.
const pauses = [5_000, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour];
const overloaded = new Set([429, 502, 503, 504]);
const defaultRestMs = 30_000;
const longestRestMs = hour;

/**
 * Decides on the attempt with the number `attempt` (1 is the first): only 2xx counts as taken, 410 ends the endpoint, and an overloaded
 * endpoint rests. `random` is in [0, 1) and spreads retries by a fifth.
 */
export function afterCall(
  { statusCode, retryAfter }: CallResult,
  attempt: number,
  now: Date,
  random: number,
): CallConsequence {
  if (statusCode !== null && statusCode >= 200 && statusCode < 300)
    return { status: 'DELIVERED', dueInMs: 0, restMs: null, isGone: false };
  // The event waits for the endpoint to be enabled again.
  if (statusCode === 410) return { status: 'PENDING', dueInMs: 0, restMs: null, isGone: true };
  const asked = retryAfterMs(retryAfter, now);
  const restMs =
    asked !== null || (statusCode !== null && overloaded.has(statusCode))
      ? Math.min(asked ?? defaultRestMs, longestRestMs)
      : null;
  const pauseMs = pauses[attempt - 1];
  if (pauseMs === undefined) return { status: 'FAILED', dueInMs: 0, restMs, isGone: false };
  return {
    status: 'PENDING',
    dueInMs: Math.max(Math.round(pauseMs * (0.9 + random * 0.2)), restMs ?? 0),
    restMs,
    isGone: false,
  };
}

/** Reads `Retry-After` (RFC 9110, 10.2.3): seconds or a date; null when it is neither, or past. */
function retryAfterMs(text: string | null, now: Date): number | null {
  if (text === null) return null;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const ms = Date.parse(text) - now.getTime();
  return ms > 0 ? ms : null;
}
