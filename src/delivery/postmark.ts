import type { Models } from 'postmark';
import { cutBatches } from './batches.ts';
import { type ChunkPool, createChunkPool } from './chunk-pool.ts';
import type { Accepted, Mailer, OutgoingMessage, Verdict } from './mailer.ts';
import { batchBody, exactBytes, mostBytes, type StreamNames } from './postmark-message.ts';
import { createTransport, type Timeouts, type Transport } from './postmark-transport.ts';
import { instant, readFailedCall, refusedAlone, verdictOfAnswer } from './postmark-verdicts.ts';

const megabyte = 1024 * 1024;
// Contract page 3, 10.3. A batch is closed before Postmark's 50 MB so that rounding cannot matter.
const maxBatchMessages = 500;
const maxBatchBytes = 45 * megabyte;
// Postmark's message search answers at most this many in a page, and this many altogether.
const searchPage = 500;
const searchEnd = 10_000;

/** What a Postmark mailer is built from. */
export interface PostmarkOptions {
  serverToken: string;
  /** Base URL of the API; the mail sandbox speaks the same. */
  apiUrl: string;
  streams: StreamNames;
  log: { warn(facts: object, message: string): void };
  timeouts?: Partial<Timeouts>;
  /** Largest message with its attachments in base64: Postmark's 10 MB when absent. */
  maxMessageBytes?: number;
  /** What the ledger calls this provider: `postmark` when absent. */
  name?: string;
}

/** The mailer over Postmark's HTTP API, by the `postmark` package. */
export function createPostmarkMailer(options: PostmarkOptions): Mailer {
  const timeouts: Timeouts = { connect: 10_000, send: 60_000, search: 30_000, ...options.timeouts };
  const transport = createTransport(options.apiUrl, options.serverToken, timeouts);
  const maxMessageBytes = options.maxMessageBytes ?? 10 * megabyte;
  const { streams, log } = options;
  const context: Context = { transport, timeouts, streams, log, pool: createChunkPool() };
  return {
    name: options.name ?? 'postmark',
    maxBatchMessages,
    maxBatchBytes,
    maxMessageBytes,
    async send(claimId, messages) {
      const sizeOf = (message: OutgoingMessage) => exactBytes(claimId, message, streams);
      const verdicts = messages.map((message) => tooLarge(message, maxMessageBytes, sizeOf));
      const places = verdicts.flatMap((verdict, place) => (verdict === null ? [place] : []));
      const fitting = places.map((place) => messages[place] as OutgoingMessage);
      const limits = { maxItems: maxBatchMessages, maxBytes: maxBatchBytes };
      const answers: Verdict[] = [];
      for (const { items } of cutBatches(fitting, limits, mostBytes, sizeOf)) {
        const last = answers.at(-1);
        // A call that failed as a whole says that the next would fail too; the rest was never sent.
        const stopped = last !== undefined && failedAsCall(last) ? last : null;
        answers.push(...(stopped ? items.map(() => notTried(stopped)) : await handOver(context, claimId, items)));
      }
      places.forEach((place, n) => {
        verdicts[place] = answers[n] as Verdict;
      });
      return verdicts as Verdict[];
    },
    async accepted(claimId) {
      const names = [...new Set(Object.values(streams))];
      const found = await Promise.all(names.map((stream) => search(context, claimId, stream)));
      return new Map(found.flatMap((part) => [...part]));
    },
  };
}

interface Context {
  transport: Transport;
  timeouts: Timeouts;
  streams: StreamNames;
  log: PostmarkOptions['log'];
  pool: ChunkPool;
}

async function handOver(context: Context, claimId: string, batch: OutgoingMessage[]): Promise<Verdict[]> {
  const body = batchBody(claimId, batch, context.streams, context.pool);
  const { client, facts } = context.transport.open(context.timeouts.send, body);
  try {
    const answers: unknown = await client.sendEmailBatch([]);
    return batch.map((_, place) => verdictOfAnswer(Array.isArray(answers) ? answers[place] : undefined));
  } catch (error) {
    const failed = readFailedCall(facts, error);
    if (!failed.split) {
      context.log.warn({ status: facts.status, messages: batch.length }, 'the mail provider did not take a batch');
      return batch.map(() => failed.verdict);
    }
    if (batch.length === 1) return [refusedAlone(failed)];
    return halves(context, claimId, batch);
  }
}

// Halving finds the message that spoils a call with few calls; in the end it stands alone.
async function halves(context: Context, claimId: string, batch: OutgoingMessage[]): Promise<Verdict[]> {
  const middle = batch.length >> 1;
  const first = await handOver(context, claimId, batch.slice(0, middle));
  const rest = batch.slice(middle);
  const stopped = first.find(failedAsCall);
  return [...first, ...(stopped ? rest.map(() => notTried(stopped)) : await handOver(context, claimId, rest))];
}

function failedAsCall(verdict: Verdict): boolean {
  return verdict.kind === 'unknown' || (verdict.kind === 'retry' && verdict.scope !== 'message');
}

function notTried(verdict: Verdict): Verdict {
  if (verdict.kind === 'retry') return verdict;
  const reason = 'reason' in verdict ? verdict.reason : '';
  return { kind: 'retry', reason: `not tried after: ${reason}`, afterMs: null, scope: 'call' };
}

function tooLarge(
  message: OutgoingMessage,
  most: number,
  sizeOf: (message: OutgoingMessage) => number,
): Verdict | null {
  if (mostBytes(message) <= most || sizeOf(message) <= most) return null;
  const reason = `The message is larger than the ${Math.floor(most / megabyte)} MB that the provider takes`;
  return { kind: 'rejected', code: 413, reason, inactive: false };
}

async function search(context: Context, claimId: string, stream: string): Promise<Accepted> {
  const found: Accepted = new Map();
  for (let offset = 0; offset + searchPage <= searchEnd; offset += searchPage) {
    const { client } = context.transport.open(context.timeouts.search);
    // Postmark searches one stream at a time, its default one when none is named.
    const filter = { count: searchPage, offset, messagestream: stream, metadata_claim: claimId };
    const answer: unknown = await client.getOutboundMessages(filter);
    const messages = (answer as { Messages?: unknown }).Messages;
    if (!Array.isArray(messages)) throw new Error('The provider answered a message search without a list of messages');
    for (const message of messages as Partial<Models.OutboundMessage>[]) {
      const { eid, claim } = message.Metadata ?? {};
      if (eid && claim === claimId && message.MessageID)
        found.set(eid, { messageId: message.MessageID, at: instant(message.ReceivedAt) });
    }
    if (messages.length < searchPage) break;
  }
  return found;
}
