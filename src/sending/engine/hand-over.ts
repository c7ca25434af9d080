import { pause } from '../../core/lib/time.ts';
import { type ClaimedMail, refusalOf, type Settlement, settleQueued } from '../ledger/index.ts';
import type { Accepted, OutgoingMessage, Verdict } from '../providers/index.ts';
import { callsOf, givenUp, retryDelay } from './attempts.ts';
import { noteCall, reportOf, takeProbe } from './breaker.ts';
import type { Claim, DeliveryDeps, Tally } from './deps.ts';
import { longestBatchMs, renderTurns, slowBatch } from './render-turns.ts';
import { suppressQueued } from './suppression.ts';

/**
 * How long after its claim a mail may still be handed over. A process that stood still for longer may have lost the claim
 * to another one; see `abandonedAfterMs`.
 */
const leaseMs = 20_000;

/** Age from which nobody can still be handing a claim over: its lease, the longest provider call, and some more. */
export const abandonedAfterMs = 90_000;

/** Hands the mail of a claim to the provider and writes down what became of each. Rejects when that cannot be written. */
export async function handOver(deps: DeliveryDeps, claim: Claim): Promise<Tally> {
  const tally: Tally = { delivered: 0, failed: 0 };
  const settle = async (settlements: Settlement[]) => {
    const { sent, failed } = await persistently(() => settleQueued(deps.db, claim.id, deps.mailer.name, settlements));
    tally.delivered += sent;
    tally.failed += failed;
  };

  const suppressed = await suppressQueued(deps.db, claim.mails, claim.id, {
    projectId: claim.mails[0]?.projectId ?? '',
    idOf: ({ id }) => id,
    textsOf: (mail) => textsOf(deps, mail),
  });
  const rest = claim.mails.filter((mail) => !suppressed.has(mail));
  const refused = new Map(rest.map((mail) => [mail.id, refusalOf(mail)]));
  const refusals = rest.flatMap(({ id }): Settlement[] => {
    const error = refused.get(id) ?? null;
    return error === null ? [] : [{ emailId: id, outcome: 'FAILED', error, subject: null, body: null }];
  });
  if (refusals.length > 0) await settle(refusals);

  let failures = 0;
  let { probing } = claim;
  const allowed = rest.filter(({ id }) => refused.get(id) === null);
  for (const mails of callsOf(allowed, deps.mailer.maxBatchMessages)) {
    const late = performance.now() - claim.takenAt > leaseMs;
    if (late || failures > 1) {
      await settle(mails.map(({ id }) => putBack(id)));
      continue;
    }
    const composed = await compose(deps, mails, claim.takenAt);
    if (composed.messages.length === 0) {
      await settle(composed.failures);
      continue;
    }
    if (probing && (await takeProbe(deps.db, deps.mailer.name)) !== null) {
      const back = composed.messages.map(({ emailId }): Settlement => putBack(emailId));
      await settle([...composed.failures, ...back]);
      continue;
    }
    const verdicts = await send(deps, claim.id, composed.messages);
    const report = reportOf(verdicts);
    const noted = note(deps, report, probing);
    if (report?.ok) probing = false;
    if (report?.ok === false) failures += 1;
    const found = await findDoubtful(deps, claim.id, verdicts);
    // A failure is written down before its mail can be claimed again, or the next claim would run into the same wall.
    const held = report?.ok === false && (await noted);
    const settlements = composed.messages.map((message, place) =>
      settlementOf(
        deps,
        mails.find(({ id }) => id === message.emailId) as ClaimedMail,
        message,
        verdicts[place],
        found,
        held,
      ),
    );
    await Promise.all([settle([...composed.failures, ...settlements]), noted]);
  }
  return tally;
}

function putBack(emailId: string): Settlement {
  return { emailId, outcome: 'RETRY', delayMs: 500, attempt: false };
}

function textsOf(deps: DeliveryDeps, mail: ClaimedMail): { subject: string; body: string } | null {
  try {
    const { subject, html } = deps.compose(mail);
    return { subject, body: String(html) };
  } catch {
    return null;
  }
}

interface Composed {
  messages: OutgoingMessage[];
  failures: Settlement[];
}

// Rendering is synchronous: between messages the process gets a chance to do something else, and a batch whose messages take
// long ends early. What is left of it goes back to the queue, before its lease is over.
async function compose(deps: DeliveryDeps, mails: readonly ClaimedMail[], takenAt: number): Promise<Composed> {
  const composed: Composed = { messages: [], failures: [] };
  let since = performance.now();
  let spent = 0;
  let rendered = 0;
  for (const mail of mails) {
    const isFull = rendered >= slowBatch && renderTurns.isSlow(mail.projectId);
    if (!isFull) await renderTurns.turn(mail.projectId);
    const began = performance.now();
    if (isFull || spent > longestBatchMs || began - takenAt > leaseMs / 2) {
      composed.failures.push({ emailId: mail.id, outcome: 'RETRY', delayMs: 0, attempt: false });
      continue;
    }
    rendered += 1;
    try {
      composed.messages.push(deps.compose(mail));
    } catch (error) {
      deps.log.warn({ err: error, emailId: mail.id, projectId: mail.projectId }, 'a mail could not be rendered');
      const reason = error instanceof Error ? error.message : String(error);
      composed.failures.push({
        emailId: mail.id,
        outcome: 'FAILED',
        error: `The message could not be rendered: ${reason}`,
        subject: null,
        body: null,
      });
    }
    const tookMs = performance.now() - began;
    spent += tookMs;
    if (!renderTurns.note(mail.projectId, tookMs) && performance.now() - since < 25) continue;
    await new Promise((resolve) => setImmediate(resolve));
    since = performance.now();
  }
  return composed;
}

// The port takes messages of one stream at a time.
async function send(deps: DeliveryDeps, claimId: string, messages: readonly OutgoingMessage[]): Promise<Verdict[]> {
  const verdicts = new Map<OutgoingMessage, Verdict>();
  await Promise.all(
    (['transactional', 'broadcast'] as const).map(async (stream) => {
      const part = messages.filter((message) => message.stream === stream);
      if (part.length === 0) return;
      const answers = await deps.mailer.send(claimId, part);
      part.forEach((message, place) => {
        verdicts.set(message, answers[place] ?? { kind: 'unknown', reason: 'the provider named no result' });
      });
    }),
  );
  return messages.map((message) => verdicts.get(message) as Verdict);
}

async function findDoubtful(deps: DeliveryDeps, claimId: string, verdicts: readonly Verdict[]): Promise<Accepted> {
  if (!verdicts.some(({ kind }) => kind === 'unknown')) return new Map();
  return deps.mailer.accepted(claimId).catch((): Accepted => new Map());
}

function settlementOf(
  deps: DeliveryDeps,
  mail: ClaimedMail,
  message: OutgoingMessage,
  verdict: Verdict | undefined,
  found: Accepted,
  held: boolean,
): Settlement {
  const emailId = mail.id;
  const texts = { subject: message.subject, body: String(message.html) };
  switch (verdict?.kind) {
    case 'accepted':
      return {
        emailId,
        outcome: 'SENT',
        messageId: verdict.messageId,
        at: verdict.at,
        stream: message.stream,
        ...texts,
      };
    case 'rejected': {
      const error = `Refused by the provider (${verdict.code}): ${verdict.reason}`;
      return { emailId, outcome: verdict.inactive ? 'BOUNCED' : 'FAILED', error, ...texts };
    }
    case 'retry': {
      const { untried = false } = verdict;
      const error = givenUp(mail, held || untried, verdict.reason);
      if (error !== null) return { emailId, outcome: 'FAILED', error, ...texts };
      return { emailId, outcome: 'RETRY', delayMs: retryDelay(mail.attempts, verdict.afterMs), attempt: !untried };
    }
    default: {
      const known = found.get(emailId);
      if (known === undefined) return { emailId, outcome: 'DOUBT', delayMs: deps.lagMs };
      return { emailId, outcome: 'SENT', messageId: known.messageId, at: known.at, stream: message.stream, ...texts };
    }
  }
}

// A success is worth a statement only now and then: it matters only after failures, which this process may not know of.
const lastSuccess = new Map<string, number>();

/** Notes a call for the breaker; answers whether the provider is held. Never rejects. */
async function note(deps: DeliveryDeps, report: ReturnType<typeof reportOf>, probing: boolean): Promise<boolean> {
  const { name } = deps.mailer;
  if (report?.ok && !probing && performance.now() - (lastSuccess.get(name) ?? -Infinity) < 1000) return false;
  if (report?.ok) lastSuccess.set(name, performance.now());
  else lastSuccess.delete(name);
  try {
    return await noteCall(deps.db, name, report, probing);
  } catch (error) {
    deps.log.warn({ err: error }, 'a call of the mail provider could not be noted');
    return false;
  }
}

// What the provider took must be written down: a short outage of Postgres is waited out.
async function persistently<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= 5) throw error;
      await pause(100 * 2 ** attempt);
    }
  }
}
