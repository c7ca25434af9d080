import type { MailerCall, OutgoingMessage, Verdict } from '../mailer.ts';
import { type ChunkPool, type OutgoingBytes, PostmarkBatch } from './postmark-batch.ts';
import type { StreamNames } from './postmark-message.ts';
import {
  type Answer,
  type RawBatchTransport,
  readFailedCall,
  refusedAlone,
  verdictOfAnswer,
} from './postmark-transport.ts';

const megabyte = 1024 * 1024;
/** How long after the beginning of a call its last batch may begin, in milliseconds. */
export const patienceMs = 5_000;

/** Shared by the calls of one mailer. */
export interface PostmarkContext {
  transport: RawBatchTransport;
  streams: StreamNames;
  log: { warn(facts: object, message: string): void };
  pool: ChunkPool;
  limits: { batchMessages: number; batchBytes: number; messageBytes: number };
}

/** Messages of a claim on their way to Postmark, in as many batches as its limits ask for. */
export class PostmarkCall implements MailerCall {
  private readonly context: PostmarkContext;
  private readonly claimId: string;
  private readonly batches: PostmarkBatch[] = [];
  /** Of each message: null, or why it is in no batch. */
  private readonly refused: (Verdict | null)[] = [];

  constructor(context: PostmarkContext, claimId: string) {
    this.context = context;
    this.claimId = claimId;
  }

  add(message: OutgoingMessage): void {
    const { batchMessages, batchBytes, messageBytes } = this.context.limits;
    let batch = this.batches.at(-1);
    if (batch === undefined || batch.count >= batchMessages) batch = this.nextBatch();
    const bytes = batch.add(message);
    this.refused.push(bytes <= messageBytes ? null : tooLarge(messageBytes));
    if (bytes > messageBytes) batch.undo();
    else if (batch.count > 1 && batch.byteLength >= batchBytes) {
      batch.undo();
      this.nextBatch().add(message);
    }
  }

  async send(): Promise<Verdict[]> {
    const answers: Verdict[] = [];
    const lastMoment = performance.now() + patienceMs;
    for (const batch of this.batches) {
      if (batch.count === 0) continue;
      const last = answers.at(-1);
      // A call that failed as a whole says that the next would fail too; the rest was never sent.
      const stopped = last !== undefined && failedAsCall(last) ? last : null;
      if (stopped !== null) answers.push(...Array.from({ length: batch.count }, () => notTried(stopped)));
      else answers.push(...(await sendBatch(this.context, batch, lastMoment)));
    }
    let next = 0;
    return this.refused.map((verdict) => verdict ?? (answers[next++] as Verdict));
  }

  private nextBatch(): PostmarkBatch {
    const batch = new PostmarkBatch(this.claimId, this.context.streams, this.context.pool);
    this.batches.push(batch);
    return batch;
  }
}

async function sendBatch(context: PostmarkContext, batch: PostmarkBatch, lastMoment: number): Promise<Verdict[]> {
  batch.end();
  const verdicts = await handOver(context, batch.count, batch.whole(), lastMoment);
  if (!('split' in verdicts)) {
    batch.release();
    return verdicts;
  }
  // A batch that is sent in parts is read in many places, so its memory is left to the garbage collector.
  return batch.count === 1 ? [refusedAlone(verdicts)] : halves(context, batch, [0, batch.count], lastMoment);
}

/** Messages of a batch, from one place up to another. */
type Part = readonly [from: number, to: number];

// Whoever finds the claim of a process that stood still counts on nothing being handed over any more.
const tooLate: Verdict = {
  kind: 'retry',
  reason: 'waits for its turn',
  afterMs: null,
  scope: 'message',
  untried: true,
};

/** A call that was refused for what is in it: its parts may be taken. */
interface Refusal {
  split: true;
  code: number;
  reason: string;
}

async function handOver(
  context: PostmarkContext,
  count: number,
  body: OutgoingBytes,
  lastMoment: number,
): Promise<Verdict[] | Refusal> {
  if (performance.now() > lastMoment) return Array.from({ length: count }, () => tooLate);
  const answer = await context.transport.post(body);
  if ('results' in answer)
    return Array.from({ length: count }, (_, place) => verdictOfAnswer(answer.results[place] as Answer | undefined));
  const failed = readFailedCall(answer.failure);
  if (failed.split) return failed;
  context.log.warn({ status: answer.failure.status, messages: count }, 'the mail provider did not take a batch');
  return Array.from({ length: count }, () => failed.verdict);
}

// Halving finds the message that spoils a call with few calls; in the end it stands alone.
async function halves(
  context: PostmarkContext,
  batch: PostmarkBatch,
  [from, to]: Part,
  lastMoment: number,
): Promise<Verdict[]> {
  const middle = from + ((to - from) >> 1);
  const first = await sendPart(context, batch, [from, middle], lastMoment);
  const stopped = first.find(failedAsCall);
  if (stopped === undefined) return [...first, ...(await sendPart(context, batch, [middle, to], lastMoment))];
  return [...first, ...Array.from({ length: to - middle }, () => notTried(stopped))];
}

async function sendPart(
  context: PostmarkContext,
  batch: PostmarkBatch,
  part: Part,
  lastMoment: number,
): Promise<Verdict[]> {
  const [from, to] = part;
  const verdicts = await handOver(context, to - from, batch.part(from, to), lastMoment);
  if (!('split' in verdicts)) return verdicts;
  return to - from === 1 ? [refusedAlone(verdicts)] : halves(context, batch, part, lastMoment);
}

function failedAsCall(verdict: Verdict): boolean {
  return verdict.kind === 'unknown' || (verdict.kind === 'retry' && verdict.scope !== 'message');
}

function notTried(verdict: Verdict): Verdict {
  if (verdict.kind === 'retry') return verdict;
  const reason = 'reason' in verdict ? verdict.reason : '';
  return { kind: 'retry', reason: `not tried after: ${reason}`, afterMs: null, scope: 'call' };
}

function tooLarge(most: number): Verdict {
  const reason = `The message is larger than the ${Math.floor(most / megabyte)} MB that the provider takes`;
  return { kind: 'rejected', code: 413, reason, inactive: false };
}
