import { AccountClient, Errors, type Models, ServerClient } from 'postmark';
import { isUuid } from '../../../lib/ids.ts';
import type { Accepted, DomainProvider, ListedMessage, ListedPage, Mailer, ProviderDomain } from '../mailer.ts';
import { refusedByPostmark } from '../mime.ts';
import { createChunkPool } from './postmark-batch.ts';
import { PostmarkCall, type PostmarkContext, patienceMs } from './postmark-call.ts';
import type { StreamNames } from './postmark-message.ts';
import { createRawBatchTransport, instant, type Timeouts } from './postmark-transport.ts';

/** Postmark's Domains API; the sandbox speaks it as well. `returnPathLabel` is the label of the bounce domain. */
export function createPostmarkDomains(settings: {
  accountToken: string;
  apiUrl: string;
  returnPathLabel: string;
}): DomainProvider {
  const client = new AccountClient(settings.accountToken, clientOptions(settings.apiUrl, 15_000));
  return {
    async create(domain) {
      const returnPath = `${settings.returnPathLabel}.${domain}`;
      try {
        return described(await client.createDomain({ Name: domain, ReturnPathDomain: returnPath }));
      } catch (error) {
        // 512: the account has this domain, left by a request whose answer was lost.
        if (!(error instanceof Errors.PostmarkError) || error.code !== 512) throw error;
        const found = await findByName(client, domain);
        if (found === undefined) throw error;
        return described(await client.getDomain(found));
      }
    },
    async check(providerId) {
      const id = Number(providerId);
      await client.verifyDomainDKIM(id);
      await client.verifyDomainReturnPath(id);
      return described(await client.getDomain(id));
    },
    async remove(providerId) {
      try {
        await client.deleteDomain(Number(providerId));
      } catch (error) {
        if (!(error instanceof Errors.PostmarkError) || error.statusCode !== 404) throw error;
      }
    },
  };
}

async function findByName(client: AccountClient, domain: string): Promise<number | undefined> {
  const size = 500;
  for (let offset = 0; ; offset += size) {
    const page = await client.getDomains({ count: size, offset });
    const found = page.Domains.find((entry) => entry.Name.toLowerCase() === domain);
    if (found) return found.ID;
    if (offset + size >= page.TotalCount) return undefined;
  }
}

function described(details: Awaited<ReturnType<AccountClient['getDomain']>>): ProviderDomain {
  const host = details.DKIMPendingHost || details.DKIMHost;
  return {
    providerId: String(details.ID),
    state: details.DKIMVerified ? 'Success' : details.DKIMUpdateStatus === 'Failed' ? 'Failed' : 'Pending',
    tokens: [host.split('._domainkey')[0] ?? ''],
    records: [
      {
        purpose: 'DKIM',
        type: 'TXT',
        name: host,
        value: details.DKIMPendingTextValue || details.DKIMTextValue,
        priority: null,
        verified: details.DKIMVerified,
      },
      {
        purpose: 'RETURN_PATH',
        type: 'CNAME',
        name: details.ReturnPathDomain,
        value: details.ReturnPathDomainCNAMEValue,
        priority: null,
        verified: details.ReturnPathDomainVerified,
      },
    ],
  };
}

const megabyte = 1024 * 1024;
// docs/contract/platform.md#10-3. A batch is closed before Postmark's 50 MB so that rounding cannot matter.
const maxBatchMessages = 500;
const maxBatchBytes = 45 * megabyte;
// Postmark's message search answers at most this many in a page, and this many altogether.
const searchPage = 500;
const searchEnd = 10_000;

export interface PostmarkOptions {
  serverToken: string;
  /** Base URL of the API; the mail sandbox speaks the same. */
  apiUrl: string;
  streams: StreamNames;
  log: { warn(facts: object, message: string): void };
  timeouts?: Partial<Timeouts>;
  /** Largest message with its attachments in base64: Postmark's 10 MB when absent. */
  maxMessageBytes?: number;
  /** Name of this provider in the ledger: `postmark` when absent. */
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
    acceptedSince: (since, position) => list(client, [...new Set(Object.values(streams))], since, position),
  };
}

/** The options of Postmark's clients for the API at this URL. */
function clientOptions(apiUrl: string, timeoutMs: number) {
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

/** Where a list of messages goes on: `seen` is the oldest message before the search was begun anew, until it is met again. */
interface ListPosition {
  stream: number;
  offset: number;
  before: string | null;
  seen: string | null;
}

const first: ListPosition = { stream: 0, offset: 0, before: null, seen: null };

// Newest first. A search reaches 10,000 messages, so that the next one begins at the oldest of them; a second further on, because that is how
// precise its dates are.
async function list(
  client: ServerClient,
  streams: readonly string[],
  since: string,
  position: string | null,
): Promise<ListedPage> {
  const at = position === null ? first : (JSON.parse(position) as ListPosition);
  const { before, offset, stream } = at;
  const filter = { count: searchPage, offset, messagestream: streams[stream] ?? '', ...(before && { todate: before }) };
  const answer: unknown = await client.getOutboundMessages(filter);
  const found = (answer as { Messages?: unknown }).Messages;
  if (!Array.isArray(found)) throw new Error('The provider answered a message search without a list of messages');
  const messages = found as Partial<Models.OutboundMessage>[];
  const seen = messages.some(({ MessageID }) => MessageID === at.seen) ? null : at.seen;
  const oldest = messages.at(-1);
  const isOver = messages.length < searchPage || instant(oldest?.ReceivedAt) < since;
  // Dates that the provider reads in another time zone would leave out messages in between.
  if (isOver && seen !== null) throw new Error('The message search of the provider does not go on where it ended');
  const listed = messages.flatMap(listedMessage).filter((message) => message.at >= since);
  if (isOver && stream + 1 === streams.length) return { messages: listed, next: null };
  if (isOver) return { messages: listed, next: JSON.stringify({ ...first, stream: stream + 1 }) };
  if (offset + 2 * searchPage <= searchEnd)
    return { messages: listed, next: JSON.stringify({ ...at, seen, offset: offset + searchPage }) };
  const end = new Date(Date.parse(instant(oldest?.ReceivedAt)) + 1000).toISOString();
  if (seen !== null || end === before)
    throw new Error('The provider accepted more messages within a second than its search can list');
  return {
    messages: listed,
    next: JSON.stringify({ stream, offset: 0, before: end, seen: oldest?.MessageID ?? null }),
  };
}

// Messages without our IDs are of another system on the same server.
function listedMessage(message: Partial<Models.OutboundMessage>): ListedMessage[] {
  const { eid, pid } = message.Metadata ?? {};
  const [recipient] = message.Recipients ?? [];
  if (!eid || !pid || !message.MessageID || !isUuid(eid) || !isUuid(pid)) return [];
  return [
    {
      messageId: message.MessageID,
      at: instant(message.ReceivedAt),
      emailId: eid,
      projectId: pid,
      recipient: recipient ?? '',
      subject: message.Subject ?? '',
      tag: message.Tag ?? '',
    },
  ];
}
