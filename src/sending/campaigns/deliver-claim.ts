import { pause } from '../../core/lib/time.ts';
import {
  callsOf,
  findSuppressed,
  givenUp,
  longestBatchMs,
  renderTurns,
  reportOf,
  retryDelay,
  submissionUnknown,
  takeProbe,
  writeSuppressed,
} from '../engine/index.ts';
import { type Accepted, beginCall, type MailerCall } from '../providers/index.ts';
import { noteQuietly } from './call-notes.ts';
import { ClaimRound } from './claim-round.ts';
import { type Claim, renewClaim } from './claims.ts';
import type { LaneDeps, LaneSend } from './lane-deps.ts';
import { type ClaimEnd, countSuppressed, type Recipient, readRecipients, settleClaim, type Tally } from './ledger.ts';
import { refusalReasons, skipReasons } from './reasons.ts';

/** A claim in the hands of this process. */
export interface TakenClaim extends Claim {
  /** Whether the campaign was SENDING when the claim was taken; without that, nothing is handed over any more. */
  sending: boolean;
  /** When this process took it, by `performance.now()`. */
  takenAt: number;
  /** Taken under a hold whose time is over: each call of it is a probe, which `takeProbe` gives to one claim at a time. */
  probing: boolean;
}

// A process that stood still for longer than this may have lost the claim to another one.
const leaseMs = 20_000;
// A look-up that stays impossible for so long is given up, and the messages are sent again.
const lookupPatienceMs = 15 * 60_000;
const lookupPauseMs = 5000;
// What the provider took is usually found soon; the first look comes before its indexing lag is over.
const firstLookMs = 2000;
// A probe risks a few messages of the many that wait.
const probeSize = 20;
const sliceMs = 5;
const settled: ClaimEnd = { settled: true };

/**
 * Hands over the messages of a claim and writes down what became of them by one statement. What has no verdict afterwards
 * is put back with the claim. Rejects when that cannot be written; the claim then stays with its holder.
 */
export async function deliverClaim(deps: LaneDeps, send: LaneSend, claim: TakenClaim): Promise<Tally> {
  const recipients = await deps.gate.run(() => readRecipients(deps.db, send, claim));
  const round = new ClaimRound(claim, recipients);
  const end = (await lookUp(deps, send, claim, round)) ?? (await handOver(deps, send, claim, round));
  return settle(deps, send, claim, round, end);
}

/** Asks the provider what it took of a claim that may be with it. Null when the rest may be handed over. */
async function lookUp(deps: LaneDeps, send: LaneSend, claim: TakenClaim, round: ClaimRound): Promise<ClaimEnd | null> {
  if (round.open.size === 0) return settled;
  if (claim.handedMs === null) return claim.sending ? null : settled;
  const found = await accepted(deps, claim);
  if (found === null && claim.handedMs < lookupPatienceMs) return inDoubt(lookupPauseMs, false);
  round.found(found ?? new Map(), (recipient) => subjectOf(send, recipient));
  deps.log.info(
    { claimId: claim.id, campaignId: send.campaignId, found: found?.size ?? null, missing: round.open.size },
    'an interrupted claim was looked up at the provider',
  );
  if (round.open.size === 0) return settled;
  if (found !== null && claim.handedMs < deps.lagMs) return inDoubt(deps.lagMs - claim.handedMs, false);
  const { doubt } = deps.mailer;
  if (found !== null && doubt !== undefined) {
    const unsure = await doubt.unsure(claim.id);
    const open = [...round.open].some(({ emailId }) => unsure.has(emailId));
    if (open && claim.handedMs < doubt.proofMs) return inDoubt(lookupPauseMs, false);
    round.fail(({ emailId }) => (unsure.has(emailId) ? submissionUnknown : null));
  }
  const tooOften = givenUp(claim, false, submissionUnknown);
  if (tooOften !== null) round.fail(() => tooOften);
  if (!claim.sending || round.open.size === 0) return settled;
  // Whoever takes the claim next must count the provider's lag from now; only the holder may go on.
  const mine = await deps.gate.run(() => renewClaim(deps.db, claim.id, send.holder));
  return mine ? null : inDoubt(deps.lagMs, false);
}

async function handOver(deps: LaneDeps, send: LaneSend, claim: TakenClaim, round: ClaimRound): Promise<ClaimEnd> {
  const refusal = claim.projectDisabled
    ? refusalReasons.disabled
    : claim.domainVerified
      ? null
      : refusalReasons.unverified;
  if (refusal !== null) round.fail(() => refusal);
  if (send.needsSubscription) round.fail(({ subscribed }) => (subscribed ? null : skipReasons.unsubscribed));

  const suppressed = await deps.gate.run(() => suppressRecipients(deps, send, round));
  for (const recipient of suppressed) round.open.delete(recipient);

  let probing = claim.probing;
  let failures = 0;
  let doubtful = false;
  let refused = false;
  let delayMs = 100;
  for (const call of cut([...round.open], claim, deps.mailer.maxBatchMessages)) {
    if (failures > (claim.probing ? 0 : 1) || performance.now() - claim.takenAt > leaseMs) break;
    const outgoing = beginCall(deps.mailer, claim.id);
    await renderTurns.turn(send.projectId);
    const composed = await deps.rendering.run(() => compose(send, call, round, outgoing));
    if (composed.length === 0) continue;
    if (probing && (await takeProbe(deps.db, deps.mailer.name)) !== null) break;
    const verdicts = await outgoing.send();
    const report = reportOf(verdicts);
    const noted = noteQuietly(deps, report, probing);
    if (report?.ok) probing = false;
    if (report?.ok === false) failures += 1;
    // A failure is written down before its messages can be claimed again, or the next claim would run into the same wall.
    const held = report?.ok === false && (await noted);
    const found = verdicts.some(({ kind }) => kind === 'unknown') ? await accepted(deps, claim) : null;
    for (const [place, { recipient, subject }] of composed.entries()) {
      const verdict = verdicts[place] ?? { kind: 'unknown', reason: 'the provider named no result' };
      const rest = round.judge(recipient, subject, verdict, found ?? new Map(), held);
      if (rest === null) continue;
      if (rest.doubtful) doubtful = true;
      else {
        refused ||= !held && !rest.untried;
        delayMs = Math.max(delayMs, retryDelay(claim.attempts, rest.afterMs));
      }
    }
    await noted;
  }
  if (round.open.size === 0) return settled;
  if (doubtful) return inDoubt(Math.min(firstLookMs, deps.lagMs), true);
  return { settled: false, delayMs, doubtful: false, attempt: refused };
}

/** The open recipients to whose addresses nothing may be sent by the project's rules; their rows say so. */
async function suppressRecipients(
  { db }: LaneDeps,
  send: LaneSend,
  round: ClaimRound,
): Promise<ReadonlySet<Recipient>> {
  const { mails, rows } = await findSuppressed(db, [...round.open], {
    projectId: send.projectId,
    idOf: ({ emailId }) => emailId,
    textsOf: () => null,
  });
  if (rows.length > 0)
    await db.transaction(async (sql) => {
      await writeSuppressed(sql, rows, null);
      await countSuppressed(sql, send, rows.length);
    });
  return mails;
}

// A first call that only probes is small; what was refused before goes in ever smaller calls.
function cut(recipients: readonly Recipient[], { attempts, probing }: TakenClaim, most: number): Recipient[][] {
  const items = recipients.map((recipient) => ({ recipient, attempts }));
  const parts = probing ? [items.slice(0, probeSize), items.slice(probeSize)] : [items];
  return parts.flatMap((part) => callsOf(part, most)).map((call) => call.map(({ recipient }) => recipient));
}

// Rendering is synchronous: between messages the process gets a chance to do something else. Of a message only its subject is
// kept here, so that what waits for the provider's answer is little.
async function compose(send: LaneSend, recipients: readonly Recipient[], round: ClaimRound, outgoing: MailerCall) {
  const composed: { recipient: Recipient; subject: string }[] = [];
  const failed = new Map<Recipient, string>();
  let since = performance.now();
  let spent = 0;
  for (const recipient of recipients) {
    // What is left stays open, and is put back with the claim: other campaigns wait for this one's batch.
    if (spent > longestBatchMs) break;
    const began = performance.now();
    try {
      const message = send.compose(recipient);
      round.stream = message.stream;
      outgoing.add(message);
      composed.push({ recipient, subject: message.subject });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      failed.set(recipient, `The message could not be rendered: ${reason}`);
    }
    const now = performance.now();
    if (renderTurns.note(send.projectId, now - began)) spent += now - began;
    if (now - since < sliceMs) continue;
    await new Promise((resolve) => setImmediate(resolve));
    since = performance.now();
  }
  if (failed.size > 0) round.fail((recipient) => failed.get(recipient) ?? null);
  return composed;
}

async function accepted(deps: LaneDeps, { id }: Claim): Promise<Accepted | null> {
  return deps.mailer.accepted(id).catch((error: unknown) => {
    deps.log.warn({ err: error, claimId: id }, 'the mail provider cannot be asked for a claim');
    return null;
  });
}

// It is made from the same content, so it reads as it was sent unless the contact's data changed meanwhile.
function subjectOf(send: LaneSend, recipient: Recipient): string | null {
  try {
    return send.compose(recipient).subject;
  } catch {
    return null;
  }
}

function inDoubt(delayMs: number, attempt: boolean): ClaimEnd {
  return { settled: false, delayMs, doubtful: true, attempt };
}

// What the provider took must be written down: a short outage of Postgres is waited out.
async function settle(
  { db, gate, mailer }: LaneDeps,
  send: LaneSend,
  claim: TakenClaim,
  round: ClaimRound,
  end: ClaimEnd,
): Promise<Tally> {
  const { projectId, campaignId, sendSeq, holder } = send;
  const place = { projectId, campaignId, sendSeq, holder, claim, provider: mailer.name, stream: round.stream };
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await gate.run(() => settleClaim(db, place, round.settlements, end));
    } catch (error) {
      if (attempt >= 5) throw error;
      await pause(100 * 2 ** attempt);
    }
  }
}
