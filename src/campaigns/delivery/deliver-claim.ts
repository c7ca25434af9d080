import { persistently } from '../../mail/engine/attempts.ts';
import type { TakenClaim } from '../../mail/engine/deps.ts';
import { handOver, judgeUnconfirmed, lookUpClaim } from '../../mail/engine/hand-over.ts';
import type { Reason } from '../../mail/ledger/reasons.ts';
import { type ClaimEnd, type Settled, settleMail } from '../../mail/ledger/settle.ts';
import { noteVersion } from '../results/versions.ts';
import { ClaimRound } from './claim-round.ts';
import { type RetakenClaim, renewClaim } from './claims.ts';
import type { LaneDeps, LaneSend } from './lane-deps.ts';
import { type ClaimedRecipient, readRecipients } from './ledger.ts';

/** A claim in the hands of this process; with `lookUpOnly` nothing of it is handed over. */
export type ClaimInHand = RetakenClaim & TakenClaim & { lookUpOnly?: boolean };

const settled: ClaimEnd = { settled: true };

/**
 * Hands over the messages of a claim and writes down what became of them by one statement. What has no verdict afterwards
 * is put back with the claim. Rejects when that cannot be written; the claim then stays with its holder.
 */
export async function deliverClaim(deps: LaneDeps, send: LaneSend, claim: ClaimInHand): Promise<Settled> {
  const recipients = await deps.statements(() => readRecipients(deps.db, send, claim));
  await noteFormer(deps, send, claim, recipients);
  const round = new ClaimRound(deps, send, claim, recipients);
  const end = (await lookUp(deps, send, claim, round)) ?? (await sendOpen(deps, send, claim, round));
  return settle(deps, send, claim, round, end);
}

/** Asks the provider what it took of a claim that may be with it. Null when the rest may be handed over. */
async function lookUp(deps: LaneDeps, send: LaneSend, claim: ClaimInHand, round: ClaimRound): Promise<ClaimEnd | null> {
  if (round.open.size === 0) return settled;
  const { handedMs, attempts, ageMs } = claim;
  if (handedMs === null) return claim.sending ? null : settled;
  const found = await lookUpClaim(deps, claim.id);
  const lagMs = Math.max(0, deps.lagMs - handedMs);
  const failed = new Map<ClaimedRecipient, Reason>();
  let waitMs = Infinity;
  for (const recipient of round.open) {
    const mail = { emailId: recipient.emailId, attempts, ageMs, sinceMs: handedMs, lagMs };
    const judgement = judgeUnconfirmed(mail, found, false);
    if (judgement.kind === 'sent') round.sent(recipient, judgement.messageId, judgement.at, subjectOf(send, recipient));
    else if (judgement.kind === 'wait') waitMs = Math.min(waitMs, judgement.delayMs);
    else if (judgement.kind === 'failed') failed.set(recipient, judgement.reason);
  }
  deps.log.info(
    { claimId: claim.id, campaignId: send.campaignId, found: found.accepted?.size ?? null, missing: round.open.size },
    'an interrupted claim was looked up at the provider',
  );
  // While one of them may still turn up, the claim waits as a whole.
  if (waitMs !== Infinity) return unconfirmed(waitMs);
  for (const [recipient, reason] of failed) round.failed(recipient, 'FAILED', reason, null);
  if (!claim.sending || round.open.size === 0) return settled;
  if (claim.lookUpOnly) return { settled: false, delayMs: 0, unconfirmed: false, attempt: false };
  // Whoever takes the claim next must count the provider's lag from now; only the holder may go on.
  const mine = await deps.statements(() => renewClaim(deps.db, claim.id, send.holder));
  return mine ? null : unconfirmed(deps.lagMs);
}

// Who is proven to have the message before this claim handed anything over has it from the claim whose rest this one is.
async function noteFormer(
  { db, statements }: LaneDeps,
  send: LaneSend,
  { formerVersion, handedMs }: ClaimInHand,
  recipients: readonly ClaimedRecipient[],
): Promise<void> {
  const ids = recipients.flatMap(({ emailId, messageId }) => (messageId === null ? [] : [emailId]));
  if (formerVersion === null || handedMs !== null || ids.length === 0) return;
  await statements(() => noteVersion(db, send, formerVersion, ids));
}

async function sendOpen(deps: LaneDeps, send: LaneSend, claim: ClaimInHand, round: ClaimRound): Promise<ClaimEnd> {
  await handOver(deps, claim, [...round.open], round);
  const end = round.end();
  // A call without an answer may have taken long, and the provider's lag counts from its end.
  if (!end.settled && end.unconfirmed) await deps.statements(() => renewClaim(deps.db, claim.id, send.holder));
  return end;
}

// It is made from the same content, so it reads as it was sent unless the contact's data changed meanwhile.
function subjectOf(send: LaneSend, recipient: ClaimedRecipient): string | null {
  try {
    return send.compose(recipient).subject;
  } catch {
    return null;
  }
}

function unconfirmed(delayMs: number): ClaimEnd {
  return { settled: false, delayMs, unconfirmed: true, attempt: false };
}

async function settle(
  { db, statements, mailer }: LaneDeps,
  send: LaneSend,
  claim: ClaimInHand,
  round: ClaimRound,
  end: ClaimEnd,
): Promise<Settled> {
  const settling = { id: claim.id, provider: mailer.name, stream: round.stream, send: { ...send, end } };
  return persistently(() => statements(() => settleMail(db, settling, round.settlements)));
}
