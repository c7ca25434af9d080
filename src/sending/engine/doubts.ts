import { isoInstantOrNull } from '../../core/database/columns.ts';
import { type Settlement, settleQueued } from '../ledger/index.ts';
import { givenUp, retryDelay, submissionUnknown } from './attempts.ts';
import { holdFor } from './breaker.ts';
import { readQueued } from './claim.ts';
import type { DeliveryDeps, Tally } from './deps.ts';
import {
  type DoubtfulMail,
  doubtAbandoned,
  doubtClaimsOf,
  projectsWaiting,
  takeDoubtful,
  takeDoubtfulOf,
} from './doubt-queries.ts';
import { abandonedAfterMs } from './hand-over.ts';

// A look-up that stays impossible for so long after the claim is given up, and the mail is sent again.
const lookupPatienceMs = 15 * 60_000;
const lookupPauseMs = 5000;

/**
 * Settles what a dead attempt of the same activity held: its claims are looked up at the provider at once; what is not
 * found there stays in doubt for the provider's indexing lag.
 */
export async function settleDeadAttempt(deps: DeliveryDeps, projectId: string, prefix: string): Promise<Tally> {
  const claims = await doubtClaimsOf(deps.db, projectId, prefix, deps.lagMs);
  const tally: Tally = { delivered: 0, failed: 0 };
  for (const claimId of claims) add(tally, await settleDoubtful(deps, await takeDoubtfulOf(deps.db, claimId)));
  return tally;
}

/** Settles the claims in doubt whose time has come, of one project or (null) of any. */
export async function settleDueDoubts(deps: DeliveryDeps, projectId: string | null): Promise<Tally> {
  const tally: Tally = { delivered: 0, failed: 0 };
  for (;;) {
    const mails = await takeDoubtful(deps.db, projectId);
    if (mails.length === 0) return tally;
    add(tally, await settleDoubtful(deps, mails));
  }
}

/**
 * Puts right what crashes and lost wakes left, of any project: dead claims are settled, and `wake` is called for each
 * project with mail that nobody fetches. Answers how many mails and projects that were.
 */
export async function reconcileClaims(deps: DeliveryDeps, wake: (projectId: string) => void): Promise<number> {
  await doubtAbandoned(deps.db, abandonedAfterMs, deps.lagMs);
  const { delivered, failed } = await settleDueDoubts(deps, null);
  const projects = await projectsWaiting(deps.db, overdueMs);
  for (const projectId of projects) wake(projectId);
  return delivered + failed + projects.length;
}

// Mail waits longer than this only where no delivery is awake, or where it is throttled or held and a wake is harmless.
const overdueMs = 5000;

async function settleDoubtful(deps: DeliveryDeps, mails: readonly DoubtfulMail[]): Promise<Tally> {
  const tally: Tally = { delivered: 0, failed: 0 };
  const byClaim = Map.groupBy(mails, ({ claimId }) => claimId);
  for (const [claimId, claimed] of byClaim) {
    const settlements = await settlementsOf(deps, claimId, claimed);
    const { sent, failed } = await settleQueued(deps.db, claimId, deps.mailer.name, settlements);
    add(tally, { delivered: sent, failed });
    deps.log.info(
      { claimId, mails: claimed.length, found: sent },
      'an interrupted claim was looked up at the provider',
    );
  }
  return tally;
}

async function settlementsOf(deps: DeliveryDeps, claimId: string, claimed: DoubtfulMail[]): Promise<Settlement[]> {
  const asked = await deps.mailer.accepted(claimId).catch((error: unknown) => {
    deps.log.warn({ err: error, claimId }, 'the mail provider cannot be asked for a claim');
    return null;
  });
  const { doubt } = deps.mailer;
  const unsure = asked === null ? undefined : await doubt?.unsure(claimId);
  const hold = await holdFor(deps.db, deps.mailer.name);
  const queued = new Map(
    (
      await readQueued(
        deps.db,
        claimed.map(({ emailId }) => emailId),
      )
    ).map((mail) => [mail.id, mail]),
  );
  return claimed.flatMap((doubtful): Settlement[] => {
    const { emailId, restMs, claimAgeMs } = doubtful;
    const mail = queued.get(emailId);
    if (mail === undefined) return [];
    const known = proofOf(doubtful) ?? asked?.get(emailId);
    if (known !== undefined) return [{ emailId, outcome: 'SENT', ...known, ...textsOf(deps, mail) }];
    if (doubt !== undefined && unsure?.has(emailId)) {
      if (claimAgeMs < doubt.proofMs) return [{ emailId, outcome: 'DOUBT', delayMs: Math.max(restMs, lookupPauseMs) }];
      return [{ emailId, outcome: 'FAILED', error: submissionUnknown, subject: null, body: null }];
    }
    if (asked === null && claimAgeMs < lookupPatienceMs)
      return [{ emailId, outcome: 'DOUBT', delayMs: Math.max(restMs, lookupPauseMs) }];
    if (asked !== null && restMs > 0) return [{ emailId, outcome: 'DOUBT', delayMs: restMs }];
    const error = givenUp(mail, hold !== null, submissionUnknown);
    if (error !== null) return [{ emailId, outcome: 'FAILED', error, subject: null, body: null }];
    const delayMs = mail.attempts === 0 ? 0 : retryDelay(mail.attempts, null);
    return [{ emailId, outcome: 'RETRY', delayMs, attempt: true }];
  });
}

// A delivery or bounce that was reported meanwhile proves the hand-over as well as the provider's search does.
function proofOf({ messageId, provenAt }: DoubtfulMail): { messageId: string; at: string } | undefined {
  const at = isoInstantOrNull(provenAt);
  return messageId === null || at === null ? undefined : { messageId, at };
}

// What was sent is kept as text. It is made from the same snapshot, so it reads as it was sent.
function textsOf(deps: DeliveryDeps, mail: Parameters<DeliveryDeps['compose']>[0]) {
  try {
    const message = deps.compose(mail);
    return { subject: message.subject, body: String(message.html), stream: message.stream };
  } catch {
    return { subject: null, body: null, stream: null };
  }
}

function add(tally: Tally, more: Tally): void {
  tally.delivered += more.delivered;
  tally.failed += more.failed;
}
