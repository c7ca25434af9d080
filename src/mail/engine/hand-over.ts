import type { Accepted, Verdict } from '../../domains/providers/mailer.ts';
import { activeTrace, measureProviderCall, traced, traceEnded } from '../../lib/telemetry.ts';
import type { Reason } from '../ledger/reasons.ts';
import { callsOf, freshMs, givenUp, leaseMs, retryDelay } from './attempts.ts';
import { type Batch, type Composed, composeBatch } from './batch.ts';
import { longestHeldMs, mayCall, noteQuietly, reportOf, takeProbe } from './breaker.ts';
import { acceptedOf } from './look-up.ts';
import type { Delivery, EngineDeps, Outcome } from './port.ts';

// Mail that was not offered because the provider fails rests for a moment.
const putBackMs = 500;

/** Writes outcomes down, or keeps them until the claim ends. */
type Settle<Mail> = (outcomes: readonly Outcome<Mail>[]) => Promise<void>;

/**
 * Hands mail to the provider: checks once more what may have changed, renders, calls, and settles the outcomes of each call. Rejects when
 * they cannot be written.
 */
export async function handOver<Mail>(
  deps: EngineDeps,
  delivery: Delivery<Mail>,
  mails: readonly Mail[],
  settle: Settle<Mail>,
): Promise<void> {
  const allowed = await checkAgain(delivery, mails, settle);
  if (allowed.length === 0) return;
  const leave =
    delivery.calls === 'ask'
      ? await mayCall(deps.db, deps.mailer.name)
      : { hold: null, probing: delivery.calls === 'probe' };
  if (leave.hold !== null) {
    const { waitMs } = leave.hold;
    return settle(allowed.map((mail) => putBack(mail, Math.min(waitMs, longestHeldMs))));
  }
  let { probing } = leave;
  const mostFailures = probing ? 1 : 2;
  const most = deps.mailer.maxBatchMessages;
  const calls = callsOf(allowed, (mail) => delivery.triedOf(mail).attempts, { most, probing });
  let failures = 0;
  while (calls.length > 0) {
    if (failures >= mostFailures || performance.now() - delivery.takenAt > leaseMs) break;
    const batch = await composeBatch(deps, delivery, calls.shift() ?? []);
    const ends = endsOf(batch);
    if (batch.composed.length === 0) {
      await settle(ends);
      continue;
    }
    if (probing && (await takeProbe(deps.db, deps.mailer.name)) !== null) {
      await settle([...ends, ...batch.composed.map(({ mail }) => putBack(mail, putBackMs))]);
      break;
    }
    // A process that stood still may have lost the claim meanwhile.
    if (performance.now() - delivery.takenAt > freshMs && !(await delivery.renew())) {
      await settle([...ends, ...batch.composed.map(({ mail }) => putBack(mail, 0))]);
      break;
    }
    const verdicts = await makeCall(deps.mailer.name, delivery, batch);
    const report = reportOf(verdicts);
    const noted = noteQuietly(deps, report, probing);
    if (report?.ok) probing = false;
    if (report?.ok === false) failures += 1;
    const found = verdicts.some(({ kind }) => kind === 'unknown') ? await acceptedOf(deps, delivery.id) : null;
    // A failure is written down before its mail can be claimed again, or the next claim would meet the same failure.
    const held = report?.ok === false && (await noted);
    for (const [place, composed] of batch.composed.entries())
      ends.push(outcomeOf(delivery, composed, verdicts[place] as Verdict, found, held));
    await Promise.all([settle(ends), noted]);
  }
  const rest = calls.flat();
  if (rest.length > 0) await settle(rest.map((mail) => putBack(mail, putBackMs)));
}

// A call is a span of the activity that makes it, and one of each mail that is traced.
function makeCall<Mail>(provider: string, delivery: Delivery<Mail>, batch: Batch<Mail>): Promise<Verdict[]> {
  const beganAt = Date.now();
  const began = performance.now();
  const name = `send ${provider}`;
  const facts = { 'fernpost.claim.id': delivery.id, 'fernpost.mail.count': batch.composed.length };
  return traced(name, { kind: 'client', facts }, async (span) => {
    const verdicts = await batch.send();
    const outcome = callOutcome(verdicts);
    measureProviderCall(provider, outcome, (performance.now() - began) / 1000);
    span.add({ 'fernpost.outcome': outcome });
    for (const [place, { mail }] of batch.composed.entries()) {
      const parent = delivery.traceOf?.(mail) ?? null;
      if (parent === null) continue;
      const verdict = verdicts[place]?.kind ?? 'unknown';
      const own = { ...facts, 'fernpost.email.id': delivery.idOf(mail), 'fernpost.outcome': verdict };
      traceEnded('deliver mail', { kind: 'consumer', parent, link: activeTrace(), facts: own }, beganAt);
    }
    return verdicts;
  });
}

function callOutcome(verdicts: readonly Verdict[]): 'accepted' | 'refused' | 'unknown' {
  if (verdicts.some(({ kind }) => kind === 'accepted')) return 'accepted';
  return verdicts.some(({ kind }) => kind === 'unknown') ? 'unknown' : 'refused';
}

// Rules of the project come first, as when the mail was accepted.
async function checkAgain<Mail>(
  delivery: Delivery<Mail>,
  mails: readonly Mail[],
  settle: Settle<Mail>,
): Promise<Mail[]> {
  const suppressing = await delivery.suppressing();
  const allowed: Mail[] = [];
  const ends: Outcome<Mail>[] = [];
  for (const mail of mails) {
    const suppression = suppressing?.(delivery.recipientOf(mail)) ?? null;
    const reason = suppression === null ? delivery.refusalOf(mail) : null;
    if (suppression !== null) {
      ends.push({ mail, outcome: 'SUPPRESSED', suppression });
      continue;
    }
    if (reason !== null) {
      ends.push({ mail, outcome: 'FAILED', reason, texts: null });
      continue;
    }
    const until = delivery.heldUntil?.(mail) ?? null;
    if (until === null) allowed.push(mail);
    else ends.push({ mail, outcome: 'HELD', until });
  }
  if (ends.length > 0) await settle(ends);
  return allowed;
}

function endsOf<Mail>({ failed, left }: Batch<Mail>): Outcome<Mail>[] {
  return [
    ...failed.map(({ mail, reason }): Outcome<Mail> => ({ mail, outcome: 'FAILED', reason, texts: null })),
    ...left.map((mail) => putBack(mail, 0)),
  ];
}

function putBack<Mail>(mail: Mail, delayMs: number): Outcome<Mail> {
  return { mail, outcome: 'RETRY', why: 'untried', delayMs, words: null };
}

function outcomeOf<Mail>(
  delivery: Delivery<Mail>,
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
      const tried = delivery.triedOf(mail);
      const reason = givenUp(tried, held || untried, words);
      if (reason !== null) return { mail, outcome: 'FAILED', reason, texts };
      const why = untried ? 'untried' : held ? 'held' : 'refused';
      return { mail, outcome: 'RETRY', why, delayMs: retryDelay(tried.attempts, afterMs), words };
    }
    case 'unknown': {
      const known = found?.get(delivery.idOf(mail));
      if (known === undefined) return { mail, outcome: 'UNCONFIRMED', delayMs: null };
      return { mail, outcome: 'SENT', ...known, stream, texts };
    }
  }
}
