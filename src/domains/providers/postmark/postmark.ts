import { AccountClient, Errors, type Models, ServerClient } from 'postmark';
import type { Accepted, DomainProvider, Mailer, ProviderDomain } from '../mailer.ts';
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
