import { type Models, ServerClient } from 'postmark';
import { refusedByPostmark } from '../attachment-types.ts';
import type { Accepted, Mailer } from '../mailer.ts';
import { createChunkPool } from './chunk-pool.ts';
import { PostmarkCall, type PostmarkContext, patienceMs } from './postmark-call.ts';
import type { StreamNames } from './postmark-message.ts';
import { createRawBatchTransport, type Timeouts } from './postmark-transport.ts';
import { instant } from './postmark-verdicts.ts';

const megabyte = 1024 * 1024;
// docs/contract/platform.md#10-3. A batch is closed before Postmark's 50 MB so that rounding cannot matter.
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

/** The mailer over Postmark's HTTP API: searches by the `postmark` package, batches by the raw transport. */
export function createPostmarkMailer(options: PostmarkOptions): Mailer {
  const timeouts: Timeouts = { connect: 10_000, send: 60_000, search: 30_000, ...options.timeouts };
  const client = new ServerClient(options.serverToken, clientOptions(options.apiUrl, timeouts.search));
  const transport = createRawBatchTransport(options.apiUrl, options.serverToken, timeouts);
  const maxMessageBytes = options.maxMessageBytes ?? 10 * megabyte;
  const { streams, log } = options;
  const limits = { batchMessages: maxBatchMessages, batchBytes: maxBatchBytes, messageBytes: maxMessageBytes };
  const context: PostmarkContext = { transport, streams, log, pool: createChunkPool(), limits };
  return {
    name: options.name ?? 'postmark',
    maxBatchMessages,
    maxBatchBytes,
    maxMessageBytes,
    longestCallMs: patienceMs + timeouts.send,
    refusedExtensions: refusedByPostmark,
    begin: (claimId) => new PostmarkCall(context, claimId),
    send(claimId, messages) {
      const call = new PostmarkCall(context, claimId);
      for (const message of messages) call.add(message);
      return call.send();
    },
    async accepted(claimId) {
      const names = [...new Set(Object.values(streams))];
      const found = await Promise.all(names.map((stream) => search(client, claimId, stream)));
      return new Map(found.flatMap((part) => [...part]));
    },
  };
}

/** The options of Postmark's clients for the API at this URL. */
export function clientOptions(apiUrl: string, timeoutMs: number) {
  const { host, pathname, protocol } = new URL(apiUrl);
  return {
    requestHost: `${host}${pathname.replace(/\/+$/, '')}`,
    useHttps: protocol === 'https:',
    timeout: timeoutMs / 1000,
  };
}

async function search(client: ServerClient, claimId: string, stream: string): Promise<Accepted> {
  const found: Accepted = new Map();
  for (let offset = 0; offset + searchPage <= searchEnd; offset += searchPage) {
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
