import type { Accepted, Mailer, Verdict } from '../../domains/providers/mailer.ts';
import { type Reason, reasonText } from '../ledger/reasons.ts';
import { callsOf, freshMs, givenUp, leaseMs, retryDelay } from './attempts.ts';
import { type Batch, type Composed, composeBatch } from './batch.ts';
import { noteQuietly, reportOf, takeProbe } from './breaker.ts';
import type { EngineDeps, EngineLog, Ledger, Outcome, TakenClaim, Tried } from './deps.ts';

// A look-up that stays impossible for so long after the hand-over is given up, and the mail is sent again.
const patienceMs = 15 * 60_000;
const pauseMs = 5000;

/** What the provider knows of a claim; `accepted` is null when it cannot be asked. */
interface LookUp {
  accepted: Accepted | null;
  /** For providers that cannot be searched: what may be with them, and for how long a report may still prove it. */
  unsure: ReadonlySet<string>;
  proofMs: number;
}

/** Asks the provider what it took of a claim. Null when it cannot be asked. */
async function acceptedOf(
  { mailer, log }: { mailer: Mailer; log: EngineLog },
  claimId: string,
): Promise<Accepted | null> {
  return mailer.accepted(claimId).catch((error: unknown) => {
    log.warn({ err: error, claimId }, 'the mail provider cannot be asked for a claim');
    return null;
  });
}

/** Asks the provider what it took, or may have taken, of a claim that was interrupted. */
export async function lookUpClaim(deps: { mailer: Mailer; log: EngineLog }, claimId: string): Promise<LookUp> {
  const accepted = await acceptedOf(deps, claimId);
  const { doubt } = deps.mailer;
  const unsure = accepted === null ? undefined : await doubt?.unsure(claimId);
  return { accepted, unsure: unsure ?? new Set(), proofMs: doubt?.proofMs ?? 0 };
}

/** An unconfirmed message. Times are milliseconds. */
interface Unconfirmed extends Tried {
  emailId: string;
  /** Since it was, or may have been, handed over. */
  sinceMs: number;
  /** Until the provider would know it, had it been handed over. */
  lagMs: number;
}

/** What to do about an unconfirmed message. */
export type Judgement =
  | { kind: 'sent'; messageId: string; at: string }
  | { kind: 'wait'; delayMs: number }
  | { kind: 'failed'; reason: Reason }
  /** The provider does not have it: it may be sent again. */
  | { kind: 'again' };

/** Judges an unconfirmed message by what the provider knows of its claim. `held`: whether the provider refuses everything. */
export function judgeUnconfirmed(mail: Unconfirmed, { accepted, unsure, proofMs }: LookUp, held: boolean): Judgement {
  const { emailId, sinceMs, lagMs } = mail;
  const known = accepted?.get(emailId);
  if (known !== undefined) return { kind: 'sent', ...known };
  if (unsure.has(emailId)) {
    if (sinceMs < proofMs) return { kind: 'wait', delayMs: Math.max(lagMs, pauseMs) };
    return { kind: 'failed', reason: { code: 'submission_unknown' } };
  }
  if (accepted === null && sinceMs < patienceMs) return { kind: 'wait', delayMs: Math.max(lagMs, pauseMs) };
  if (accepted !== null && lagMs > 0) return { kind: 'wait', delayMs: lagMs };
  const reason = givenUp(mail, held, reasonText({ code: 'submission_unknown' }));
  return reason === null ? { kind: 'again' } : { kind: 'failed', reason };
}

// Mail that was not offered because the provider fails rests for a moment.
const putBackMs = 500;

/**
 * Hands claimed mail to the provider and tells its ledger what became of each message. Rejects when the ledger cannot be
 * written.
 */
export async function handOver<Mail>(
  deps: EngineDeps,
  claim: TakenClaim,
  mails: readonly Mail[],
  ledger: Ledger<Mail>,
): Promise<void> {
  const allowed = await checkAgain(mails, ledger);
  const calls = callsOf(allowed, (mail) => ledger.triedOf(mail).attempts, {
    most: deps.mailer.maxBatchMessages,
    probing: claim.probing,
  });
  const mostFailures = claim.probing ? 1 : 2;
  let failures = 0;
  let { probing } = claim;
  while (calls.length > 0) {
    if (failures >= mostFailures || performance.now() - claim.takenAt > leaseMs) break;
    const call = calls.shift() ?? [];
    const batch = await composeBatch(deps, claim, call, ledger);
    const ends = endsOf(batch);
    if (batch.composed.length === 0) {
      await ledger.settle(ends);
      continue;
    }
    if (probing && (await takeProbe(deps.db, deps.mailer.name)) !== null) {
      await ledger.settle([...ends, ...batch.composed.map(({ mail }) => putBack(mail, putBackMs))]);
      break;
    }
    // A process that stood still may have lost the claim meanwhile.
    if (performance.now() - claim.takenAt > freshMs && !(await ledger.isHeld())) {
      await ledger.settle([...ends, ...batch.composed.map(({ mail }) => putBack(mail, 0))]);
      break;
    }
    const verdicts = await batch.send();
    const report = reportOf(verdicts);
    const noted = noteQuietly(deps, report, probing);
    if (report?.ok) probing = false;
    if (report?.ok === false) failures += 1;
    const found = verdicts.some(({ kind }) => kind === 'unknown') ? await acceptedOf(deps, claim.id) : null;
    // A failure is written down before its mail can be claimed again, or the next claim would run into the same wall.
    const held = report?.ok === false && (await noted);
    for (const [place, composed] of batch.composed.entries())
      ends.push(outcomeOf(ledger, composed, verdicts[place] as Verdict, found, held));
    await Promise.all([ledger.settle(ends), noted]);
  }
  const rest = calls.flat();
  if (rest.length > 0) await ledger.settle(rest.map((mail) => putBack(mail, putBackMs)));
}

// What may have changed since the mail was accepted: rules of the project first, as when it was.
async function checkAgain<Mail>(mails: readonly Mail[], ledger: Ledger<Mail>): Promise<Mail[]> {
  const suppressed = await ledger.suppress(mails);
  const allowed: Mail[] = [];
  const refused: Outcome<Mail>[] = [];
  for (const mail of mails) {
    if (suppressed.has(mail)) continue;
    const reason = ledger.refusalOf(mail);
    if (reason === null) allowed.push(mail);
    else refused.push({ mail, outcome: 'FAILED', reason, texts: null });
  }
  if (refused.length > 0) await ledger.settle(refused);
  return allowed;
}

function endsOf<Mail>({ failed, left }: Batch<Mail>): Outcome<Mail>[] {
  return [
    ...failed.map(({ mail, reason }): Outcome<Mail> => ({ mail, outcome: 'FAILED', reason, texts: null })),
    ...left.map((mail) => putBack(mail, 0)),
  ];
}

function putBack<Mail>(mail: Mail, delayMs: number): Outcome<Mail> {
  return { mail, outcome: 'RETRY', delayMs, attempt: false, held: false, words: null };
}

function outcomeOf<Mail>(
  ledger: Ledger<Mail>,
  { mail, texts, stream }: Composed<Mail>,
  verdict: Verdict,
  found: Accepted | null,
  held: boolean,
): Outcome<Mail> {
  switch (verdict.kind) {
    case 'accepted':
      return { mail, outcome: 'SENT', messageId: verdict.messageId, at: verdict.at, stream, texts };
    case 'rejected': {
      const reason: Reason = { code: 'refused', number: verdict.code, words: verdict.reason };
      return { mail, outcome: verdict.inactive ? 'BOUNCED' : 'FAILED', reason, texts };
    }
    case 'retry': {
      const { reason: words, afterMs, untried = false } = verdict;
      const tried = ledger.triedOf(mail);
      const reason = givenUp(tried, held || untried, words);
      if (reason !== null) return { mail, outcome: 'FAILED', reason, texts };
      return {
        mail,
        outcome: 'RETRY',
        delayMs: retryDelay(tried.attempts, afterMs),
        attempt: !untried,
        held,
        words,
      };
    }
    case 'unknown': {
      const known = found?.get(ledger.idOf(mail));
      if (known === undefined) return { mail, outcome: 'UNCONFIRMED' };
      return { mail, outcome: 'SENT', ...known, stream, texts };
    }
  }
}
