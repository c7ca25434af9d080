import { isoInstantOrNull } from '../../core/database/columns.ts';
import { type ClaimedMail, type Settlement, settleQueued } from '../ledger/index.ts';
import { abandonedAfterMs, inFlightMs, retryDelay } from './attempts.ts';
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
import { type Judgement, judgeUnconfirmed, lookUpClaim } from './look-up.ts';
import { textsOf } from './queue-ledger.ts';

/**
 * Settles what a dead attempt of the same activity held: its claims are looked up at the provider at once; what is not
 * found there stays in doubt while a call may be under way, and for the provider's indexing lag.
 */
export async function settleDeadAttempt(deps: DeliveryDeps, projectId: string, prefix: string): Promise<Tally> {
  const claims = await doubtClaimsOf(deps.db, projectId, prefix, restMs(deps));
  const tally: Tally = { delivered: 0, failed: 0 };
  for (const claimId of claims) add(tally, await settleDoubtful(deps, await takeDoubtfulOf(deps.db, claimId)));
  return tally;
}

// The provider's lag counts from the last moment at which a message may have come there.
function restMs({ mailer, lagMs }: DeliveryDeps): number {
  return inFlightMs(mailer) + lagMs;
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
  await doubtAbandoned(deps.db, abandonedAfterMs, restMs(deps));
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
  const found = await lookUpClaim(deps, claimId);
  const held = (await holdFor(deps.db, deps.mailer.name)) !== null;
  const ids = claimed.map(({ emailId }) => emailId);
  const queued = new Map((await readQueued(deps.db, ids)).map((mail) => [mail.id, mail]));
  return claimed.flatMap((doubtful) => {
    const mail = queued.get(doubtful.emailId);
    if (mail === undefined) return [];
    const { attempts, ageMs } = mail;
    const { emailId, claimAgeMs: sinceMs, restMs: lagMs } = doubtful;
    const proof = proofOf(doubtful);
    if (proof !== undefined) return [settlementOf(deps, mail, { kind: 'sent', ...proof })];
    const judgement = judgeUnconfirmed({ emailId, attempts, ageMs, sinceMs, lagMs }, found, held);
    return [settlementOf(deps, mail, judgement)];
  });
}

function settlementOf(deps: DeliveryDeps, mail: ClaimedMail, judgement: Judgement): Settlement {
  const { id: emailId, attempts } = mail;
  switch (judgement.kind) {
    case 'sent': {
      // What was sent is kept as text. It is made from the same snapshot, so it reads as it was sent.
      const texts = textsOf(deps, mail) ?? { subject: null, body: null, stream: null };
      return { emailId, outcome: 'SENT', messageId: judgement.messageId, at: judgement.at, ...texts };
    }
    case 'wait':
      return { emailId, outcome: 'DOUBT', delayMs: judgement.delayMs };
    case 'failed':
      return { emailId, outcome: 'FAILED', reason: judgement.reason, subject: null, body: null };
    case 'again':
      return {
        emailId,
        outcome: 'RETRY',
        delayMs: attempts === 0 ? 0 : retryDelay(attempts, null),
        attempt: true,
        words: null,
      };
  }
}

// A delivery or bounce that was reported meanwhile proves the hand-over as well as the provider's search does.
function proofOf({ messageId, provenAt }: DoubtfulMail): { messageId: string; at: string } | undefined {
  const at = isoInstantOrNull(provenAt);
  return messageId === null || at === null ? undefined : { messageId, at };
}

function add(tally: Tally, more: Tally): void {
  tally.delivered += more.delivered;
  tally.failed += more.failed;
}
