import type { Mailer } from '../../domains/providers/mailer.ts';
import { pause } from '../../lib/time.ts';
import type { Reason } from '../ledger/reasons.ts';

const mostAttempts = 8;
/** Mail that the provider has not taken for so long is given up. */
export const mostAgeMs = 24 * 60 * 60 * 1000;

/** The longest pause that a provider, or a proxy before it, may ask for. */
export const longestAskedMs = 60 * 60 * 1000;

/**
 * How long after its claim a mail may still be handed over. A process that stood still for longer may have lost the claim
 * to another one; see `abandonedAfterMs`.
 */
export const leaseMs = 20_000;

/** A claim is handed over without asking whether it was lost to another attempt while it is younger than this. */
export const freshMs = 2_000;

/**
 * How long after a claim was taken from an attempt that is believed to be dead its messages may still reach the provider, in
 * milliseconds: the attempt may only have stood still, or be cut off from Temporal, with a call under way.
 */
export function inFlightMs({ longestCallMs = 0 }: Mailer): number {
  return longestCallMs === 0 ? 0 : freshMs + longestCallMs;
}

/** Age from which no process can still be handing a claim over: its lease, the longest provider call, and some more. */
export const abandonedAfterMs = 90_000;

/** A probe of a provider that failed before risks this many messages of those that wait. */
export const probeSize = 20;

/**
 * Returns how long a refused mail waits before its next attempt, in milliseconds: 1 s, doubled each time up to a minute, or the pause that
 * was asked for, an hour at most.
 */
export function retryDelay(attempts: number, afterMs: number | null, random = Math.random()): number {
  const wait = Math.min(60_000, 1000 * 2 ** Math.min(attempts, 10)) * (0.75 + random / 4);
  return Math.round(Math.max(wait, Math.min(afterMs ?? 0, longestAskedMs)));
}

/**
 * Returns why a mail is given up after a further refused attempt, or null (docs/contract/platform.md#10-4). While the provider is held,
 * refusals say nothing of the mail, so that only its age counts.
 */
export function givenUp(
  mail: { attempts: number; ageMs: number },
  providerHeld: boolean,
  words: string,
): Reason | null {
  if (mail.ageMs > mostAgeMs) return { code: 'too_old', words };
  if (!providerHeld && mail.attempts + 1 >= mostAttempts)
    return { code: 'too_many_attempts', number: mostAttempts, words };
  return null;
}

/**
 * Cuts a claim into calls. Mail that was refused before goes in ever smaller calls, so that one message that makes
 * every call fail is alone in the end and takes no other down with it. The first call of a probe is small.
 */
export function callsOf<Mail>(
  mails: readonly Mail[],
  attemptsOf: (mail: Mail) => number,
  { most, probing }: { most: number; probing: boolean },
): Mail[][] {
  if (probing && mails.length > probeSize)
    return [mails.slice(0, probeSize), mails.slice(probeSize)].flatMap((part) =>
      callsOf(part, attemptsOf, { most, probing: false }),
    );
  const calls: Mail[][] = [];
  const open = new Map<number, Mail[]>();
  for (const mail of mails) {
    const attempts = attemptsOf(mail);
    const size = attempts < 2 ? most : Math.max(1, Math.floor(most / 8 ** (attempts - 1)));
    let call = open.get(size);
    if (call === undefined || call.length >= size) {
      call = [];
      calls.push(call);
      open.set(size, call);
    }
    call.push(mail);
  }
  return calls;
}

/** Repeats a write for some seconds where it fails: outcomes must be kept, so that a short outage of Postgres is waited out. */
export async function persistently<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await write();
    } catch (error) {
      if (attempt >= 5) throw error;
      await pause(100 * 2 ** attempt);
    }
  }
}
