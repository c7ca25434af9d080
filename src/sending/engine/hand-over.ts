import type { Accepted, Verdict } from '@fernpost/mail-providers';
import type { Reason } from '../ledger/index.ts';
import { callsOf, freshMs, givenUp, leaseMs, retryDelay } from './attempts.ts';
import { type Batch, type Composed, composeBatch } from './batch.ts';
import { reportOf, takeProbe } from './breaker.ts';
import { noteQuietly } from './call-notes.ts';
import type { EngineDeps, TakenClaim } from './deps.ts';
import type { Ledger, Outcome } from './ledger-port.ts';
import { acceptedOf } from './look-up.ts';

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
