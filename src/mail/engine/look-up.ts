import type { Accepted, Mailer } from '../../domains/providers/mailer.ts';
import { type Reason, reasonText } from '../ledger/reasons.ts';
import { givenUp, mostAgeMs } from './attempts.ts';
import type { EngineLog, Tried } from './port.ts';

const pauseMs = 5000;
const longestPauseMs = 60_000;

/** The provider's knowledge of a claim; `accepted` is null when it cannot be asked. */
export interface LookUp {
  accepted: Accepted | null;
  /** For providers that cannot be searched: our IDs that may be with them, and for how long a report may still prove it. */
  unsure: ReadonlySet<string>;
  proofMs: number;
}

/** Asks the provider which messages of a claim it took. Null when it cannot be asked. */
export async function acceptedOf(
  { mailer, log }: { mailer: Mailer; log: EngineLog },
  claimId: string,
): Promise<Accepted | null> {
  return mailer.accepted(claimId).catch((error: unknown) => {
    log.warn({ err: error, claimId }, 'the mail provider cannot be asked for a claim');
    return null;
  });
}

/** Asks the provider which messages of an interrupted claim it took or may have taken. */
export async function lookUpClaim(deps: { mailer: Mailer; log: EngineLog }, claimId: string): Promise<LookUp> {
  const accepted = await acceptedOf(deps, claimId);
  const { unconfirmed } = deps.mailer;
  const unsure = accepted === null ? undefined : await unconfirmed?.unsure(claimId);
  return { accepted, unsure: unsure ?? new Set(), proofMs: unconfirmed?.proofMs ?? 0 };
}

/** An unconfirmed message. Times are milliseconds. */
interface Unconfirmed extends Tried {
  emailId: string;
  /** Since it was, or may have been, handed over. */
  sinceMs: number;
  /** Until the provider would know it, had it been handed over. */
  lagMs: number;
}

/** The decision about an unconfirmed message. */
export type Judgement =
  | { kind: 'sent'; messageId: string; at: string }
  | { kind: 'wait'; delayMs: number }
  | { kind: 'failed'; reason: Reason }
  /** The provider does not have it: it may be sent again. */
  | { kind: 'again' };

/**
 * Judges an unconfirmed message by what the provider knows of its claim. While that cannot be asked the message waits: it is never sent
 * again unchecked, and after a day it is given up. `held`: whether the provider refuses everything.
 */
export function judgeUnconfirmed(mail: Unconfirmed, { accepted, unsure, proofMs }: LookUp, held: boolean): Judgement {
  const { emailId, sinceMs, lagMs } = mail;
  const known = accepted?.get(emailId);
  if (known !== undefined) return { kind: 'sent', ...known };
  if (unsure.has(emailId)) {
    if (sinceMs < proofMs) return { kind: 'wait', delayMs: Math.max(lagMs, pauseMs) };
    return { kind: 'failed', reason: { code: 'submission_unknown' } };
  }
  if (accepted === null) {
    if (sinceMs > mostAgeMs) return { kind: 'failed', reason: { code: 'submission_unknown' } };
    return { kind: 'wait', delayMs: Math.max(lagMs, pauseMs, Math.min(sinceMs / 10, longestPauseMs)) };
  }
  if (lagMs > 0) return { kind: 'wait', delayMs: lagMs };
  const reason = givenUp(mail, held, reasonText({ code: 'submission_unknown' }));
  return reason === null ? { kind: 'again' } : { kind: 'failed', reason };
}
