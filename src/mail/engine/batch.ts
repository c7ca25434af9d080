import { beginCall, type MailerCall, type MailStream, type Verdict } from '../../domains/providers/mailer.ts';
import { pause } from '../../lib/time.ts';
import type { Reason } from '../ledger/reasons.ts';
import { leaseMs } from './attempts.ts';
import type { Delivery, EngineDeps, KeptTexts } from './port.ts';

/** A message that took longer to render than this, in milliseconds, costs its project a rest. */
const longMs = 15;
/** A rest is so many times as long as the rendering was: what is left of the process belongs to everybody else. */
const restFactor = 15;
const longestRestMs = 2000;
// For so long after a slow message its project takes turns with others that have had one.
const rememberedMs = 60_000;
// One slow message may be due to the machine. Of so many slow ones each is forgiven by so many quick ones.
const slowFrom = 3;
const forgivenBy = 20;
/** How many messages of a slow project are claimed and rendered in one batch. */
export const slowBatch = 5;
/** How long one batch may render, in milliseconds; what is left of it comes again in a batch of its own. */
const longestBatchMs = 500;

/** The clock of `RenderTurns`; tests bring their own. */
interface TurnClock {
  now(): number;
  pause(ms: number): Promise<void>;
}

/**
 * Shares a process between projects whose messages take long to render and all others. Rendering one message cannot be
 * interrupted, so that all work of the process waits for it. Projects with slow messages therefore render one message at a
 * time among all of them, and after each the process rests from them for many times as long. Projects without slow messages never wait.
 */
export class RenderTurns {
  private readonly clock: TurnClock;
  private quietUntil = 0;
  private readonly scores = new Map<string, { score: number; at: number }>();

  constructor(clock: TurnClock = { now: () => performance.now(), pause }) {
    this.clock = clock;
  }

  /** Waits for the project's turn, if it has to take turns. */
  async turn(projectId: string): Promise<void> {
    while (this.isSlow(projectId) && this.clock.now() < this.quietUntil)
      await this.clock.pause(this.quietUntil - this.clock.now());
  }

  /** Notes how long rendering a message took. Returns whether it was long. */
  note(projectId: string, tookMs: number): boolean {
    const known = this.scores.get(projectId);
    if (tookMs < longMs) {
      if (known !== undefined) {
        known.score -= 1 / forgivenBy;
        if (known.score <= 0) this.scores.delete(projectId);
      }
      return false;
    }
    const now = this.clock.now();
    if (this.scores.size > 1000)
      for (const [id, { at }] of this.scores) if (now - at > rememberedMs) this.scores.delete(id);
    this.scores.set(projectId, { score: Math.min(2 * slowFrom, (known?.score ?? 0) + 1), at: now });
    if (this.isSlow(projectId))
      this.quietUntil = Math.max(now, this.quietUntil) + Math.min(longestRestMs, restFactor * tookMs);
    return true;
  }

  /** Whether the project takes turns at the moment: then it should claim little at once. */
  isSlow(projectId: string): boolean {
    const known = this.scores.get(projectId);
    return known !== undefined && known.score >= slowFrom && this.clock.now() - known.at < rememberedMs;
  }
}

/** Those of this process. */
export const renderTurns = new RenderTurns();

// Rendering is synchronous: after so long the process gets a chance to do something else.
const sliceMs = 5;

/** A message that is part of a call. */
export interface Composed<Mail> {
  mail: Mail;
  texts: KeptTexts;
  stream: MailStream;
}

/** Messages that are ready to go, and the outcomes of the others of a batch. */
export interface Batch<Mail> {
  composed: Composed<Mail>[];
  failed: { mail: Mail; reason: Reason }[];
  /** Mail that there was no time for: it may be claimed again at once. */
  left: Mail[];
  /** Hands the composed messages over. Returns their verdicts, in their order. */
  send(): Promise<Verdict[]>;
}

/** Renders mail into one call, one batch at a time where `deps.rendering` says so. */
export async function composeBatch<Mail>(
  deps: EngineDeps,
  delivery: Delivery<Mail>,
  mails: readonly Mail[],
): Promise<Batch<Mail>> {
  // A slow project takes turns with its like and renders little at once, so that it need not take the place of others.
  if (deps.rendering === undefined || renderTurns.isSlow(delivery.projectId)) return render(deps, delivery, mails);
  return deps.rendering(() => render(deps, delivery, mails));
}

// A batch whose messages take long ends early, well before the claim's lease is over.
async function render<Mail>(deps: EngineDeps, delivery: Delivery<Mail>, mails: readonly Mail[]): Promise<Batch<Mail>> {
  const { projectId } = delivery;
  const call = new StreamedCall(deps, delivery.id);
  const batch: Batch<Mail> = { composed: [], failed: [], left: [], send: () => call.send(batch.composed) };
  const mayWait = deps.rendering === undefined || renderTurns.isSlow(projectId);
  let since = performance.now();
  let slowMs = 0;
  for (const [place, mail] of mails.entries()) {
    let isFull = slowMs > longestBatchMs;
    if (renderTurns.isSlow(projectId)) {
      isFull ||= place >= slowBatch || !mayWait;
      if (!isFull) await renderTurns.turn(projectId);
    }
    const began = performance.now();
    if (isFull || began - delivery.takenAt > leaseMs / 2) {
      batch.left = mails.slice(place);
      break;
    }
    try {
      const message = delivery.compose(mail);
      call.add(message);
      batch.composed.push({ mail, texts: delivery.keep(message), stream: message.stream });
    } catch (error) {
      if (batch.failed.length === 0)
        deps.log.warn({ err: error, emailId: delivery.idOf(mail), projectId }, 'a mail could not be rendered');
      const words = error instanceof Error ? error.message : String(error);
      batch.failed.push({ mail, reason: { code: 'not_rendered', words } });
    }
    const now = performance.now();
    if (renderTurns.note(projectId, now - began)) slowMs += now - began;
    if (now - since < sliceMs) continue;
    await new Promise((resolve) => setImmediate(resolve));
    since = performance.now();
  }
  return batch;
}

/** A call with messages of any stream; the port of providers takes one stream at a time. */
class StreamedCall {
  readonly #calls = new Map<MailStream, MailerCall>();
  readonly #begin: () => MailerCall;

  constructor({ mailer }: EngineDeps, claimId: string) {
    this.#begin = () => beginCall(mailer, claimId);
  }

  add(message: Parameters<MailerCall['add']>[0]): void {
    let call = this.#calls.get(message.stream);
    if (call === undefined) {
      call = this.#begin();
      this.#calls.set(message.stream, call);
    }
    call.add(message);
  }

  async send(composed: readonly { stream: MailStream }[]): Promise<Verdict[]> {
    const answers = new Map<MailStream, Iterator<Verdict>>();
    await Promise.all(
      [...this.#calls].map(async ([stream, call]) => answers.set(stream, (await call.send()).values())),
    );
    return composed.map(({ stream }) => {
      const verdict = answers.get(stream)?.next().value as Verdict | undefined;
      return verdict ?? { kind: 'unknown', reason: 'the provider named no result' };
    });
  }
}
