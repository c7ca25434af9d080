import { setTimeout as pause } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { HandoverJournal, Mailer, OutgoingMessage, Verdict } from './mailer.ts';
import { mimeOf } from './mime.ts';

/** Spreads the calls of one process over time and over so many connections. */
interface ConnectionLimiter {
  /**
   * Runs the work when its turn has come; answers null, without running it, when that would be after `deadline`
   * (`performance.now()`).
   */
  run<T>(deadline: number, work: () => Promise<T>): Promise<T | null>;
  /** Calls a second from now on; null for no limit. */
  limit(rate: number | null): void;
  /** Nobody begins for a while: the provider has said that it is too fast. */
  rest(milliseconds: number): void;
}

/** A limiter for so many calls at once. */
export function createConnectionLimiter(connections: number): ConnectionLimiter {
  const connected = pLimit(connections);
  let gapMs = 0;
  let next = 0;
  return {
    run: (deadline, work) =>
      connected(async () => {
        const now = performance.now();
        const turn = Math.max(now, next);
        if (turn > deadline) return null;
        next = turn + gapMs;
        // A timer counts from the beginning of the event loop's turn, and so fires early in a process that is busy.
        for (let left = turn - now; left > 0; left = turn - performance.now()) await pause(left);
        return await work();
      }),
    limit(rate) {
      gapMs = rate === null || rate <= 0 ? 0 : 1000 / rate;
    },
    rest(milliseconds) {
      next = Math.max(next, performance.now() + milliseconds);
    },
  };
}

/** A provider that takes one message in a call and cannot be searched afterwards. */
interface SingleProvider {
  name: string;
  maxMessageBytes: number;
  /** Extensions of files that it never carries, lower case; none when absent. */
  refusedExtensions?: ReadonlySet<string>;
  /** How long after its claim a report of the provider may still prove a message, in milliseconds. */
  proofMs: number;
  /** Changes a message of the composer before it becomes MIME. */
  prepare?(message: OutgoingMessage): OutgoingMessage;
  /** Changes the MIME before it leaves, such as by a signature. When it rejects, the message waits. */
  sign?(message: OutgoingMessage, mime: Buffer): Promise<Buffer>;
  /** Hands one message over. What it throws counts as an answer that was lost. */
  handOver(message: OutgoingMessage, mime: Buffer): Promise<Verdict>;
}

/** The parts that a mailer over such a provider shares with others. */
interface SingleMailerDeps {
  journal: HandoverJournal;
  limiter: ConnectionLimiter;
  log: { warn(facts: object, text: string): void };
}

// As many as are worth a call of the pipeline; each is handed over by itself.
const maxBatchMessages = 50;
// How long after the beginning of a call its last message may begin.
const patienceMs = 10_000;

/**
 * The mailer over a provider of single messages. Every message is written down in the journal before it leaves, so that
 * what is unconfirmed after a crash is only what was on the wire; nothing that may have been taken is ever sent again.
 */
export function createSingleMailer(provider: SingleProvider, deps: SingleMailerDeps): Mailer {
  const { journal, limiter, log } = deps;
  const { name, maxMessageBytes, proofMs } = provider;
  return {
    name,
    maxBatchMessages,
    maxBatchBytes: maxBatchMessages * maxMessageBytes,
    maxMessageBytes,
    // A message is noted in the journal before it leaves: only what has not begun could come as a surprise.
    longestCallMs: patienceMs,
    ...(provider.refusedExtensions ? { refusedExtensions: provider.refusedExtensions } : {}),
    async send(claimId, messages) {
      const deadline = performance.now() + patienceMs;
      // A call that says something of the provider as a whole says it of the rest as well.
      let stopped: Verdict | null = null;
      return Promise.all(
        messages.map(async (message): Promise<Verdict> => {
          const verdict = await limiter.run(deadline, async () => {
            if (stopped !== null) return notTried(stopped);
            const answer = await deliver(claimId, message);
            if (answer.kind === 'retry' && answer.scope !== 'message') stopped = answer;
            return answer;
          });
          return (
            verdict ?? { kind: 'retry', reason: 'waits for its turn', afterMs: 1000, scope: 'message', untried: true }
          );
        }),
      );
    },
    accepted: (claimId) => journal.accepted(claimId),
    unconfirmed: { proofMs, unsure: (claimId) => journal.unsure(claimId) },
  };

  async function deliver(claimId: string, message: OutgoingMessage): Promise<Verdict> {
    const { emailId } = message;
    let mime: Buffer;
    try {
      mime = await mimeOf(provider.prepare?.(message) ?? message);
    } catch (error) {
      return { kind: 'rejected', code: 422, reason: `no MIME can be made of it: ${textOf(error)}`, inactive: false };
    }
    if (provider.sign !== undefined) {
      try {
        mime = await provider.sign(message, mime);
      } catch (error) {
        return {
          kind: 'retry',
          reason: `the message cannot be signed: ${textOf(error)}`,
          afterMs: null,
          scope: 'message',
        };
      }
    }
    if (mime.length > maxMessageBytes) {
      const reason = `The message is larger than the ${Math.floor(maxMessageBytes / 1024 / 1024)} MB that the provider takes`;
      return { kind: 'rejected', code: 413, reason, inactive: false };
    }
    const begun = await journal.begin(claimId, emailId).catch((error: unknown) => {
      log.warn({ err: error, emailId }, 'a hand-over could not be noted, so the mail waits');
      return null;
    });
    if (begun === null)
      return {
        kind: 'retry',
        reason: 'the hand-over could not be noted',
        afterMs: 1000,
        scope: 'message',
        untried: true,
      };
    if (begun === 'unsure') return { kind: 'unknown', reason: 'an earlier hand-over got no answer' };
    if (begun !== 'now') return { kind: 'accepted', ...begun };
    const verdict = await provider
      .handOver(message, mime)
      .catch((error: unknown): Verdict => ({ kind: 'unknown', reason: textOf(error) }));
    if (verdict.kind === 'accepted') await journal.took(claimId, emailId, verdict.messageId, verdict.at);
    else if (verdict.kind !== 'unknown') await journal.refused(claimId, emailId);
    else log.warn({ emailId, reason: verdict.reason }, 'the mail provider gave no answer to a message');
    return verdict;
  }
}

function notTried(verdict: Verdict): Verdict {
  return verdict.kind === 'retry' ? { ...verdict, untried: true } : verdict;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
