import { beginCall, type MailerCall, type MailStream, type Verdict } from '@fernpost/mail-providers';
import type { Reason } from '../ledger/index.ts';
import { leaseMs } from './attempts.ts';
import type { EngineDeps, TakenClaim } from './deps.ts';
import type { KeptTexts, Ledger } from './ledger-port.ts';
import { longestBatchMs, renderTurns, slowBatch } from './render-turns.ts';

// Rendering is synchronous: after so long the process gets a chance to do something else.
const sliceMs = 5;

/** A message that is part of a call. */
export interface Composed<Mail> {
  mail: Mail;
  texts: KeptTexts;
  stream: MailStream;
}

/** Messages that are ready to go, and what became of the others of a batch. */
export interface Batch<Mail> {
  composed: Composed<Mail>[];
  failed: { mail: Mail; reason: Reason }[];
  /** What there was no time for: it may be claimed again at once. */
  left: Mail[];
  /** Hands the composed messages over. Answers their verdicts, in their order. */
  send(): Promise<Verdict[]>;
}

/** Renders mail into one call, one batch at a time where `deps.rendering` says so. */
export async function composeBatch<Mail>(
  deps: EngineDeps,
  claim: TakenClaim,
  mails: readonly Mail[],
  ledger: Ledger<Mail>,
): Promise<Batch<Mail>> {
  // A slow project takes turns with its like and renders little at once, so that it need not take the place of others.
  if (deps.rendering === undefined || renderTurns.isSlow(ledger.projectId)) return render(deps, claim, mails, ledger);
  return deps.rendering(() => render(deps, claim, mails, ledger));
}

// A batch whose messages take long ends early, well before the claim's lease is over.
async function render<Mail>(
  deps: EngineDeps,
  claim: TakenClaim,
  mails: readonly Mail[],
  ledger: Ledger<Mail>,
): Promise<Batch<Mail>> {
  const { projectId } = ledger;
  const call = new StreamedCall(deps, claim.id);
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
    if (isFull || began - claim.takenAt > leaseMs / 2) {
      batch.left = mails.slice(place);
      break;
    }
    try {
      const message = ledger.compose(mail);
      call.add(message);
      batch.composed.push({ mail, texts: ledger.keep(message), stream: message.stream });
    } catch (error) {
      if (batch.failed.length === 0)
        deps.log.warn({ err: error, emailId: ledger.idOf(mail), projectId }, 'a mail could not be rendered');
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
