import type { Filled } from '@fernpost/renderer';

/** A text of a message: a string, or the parts that `toString` makes one of. */
export type MessageText = string | Filled;

/** One message as the provider gets it: rendered, for exactly one recipient. */
export interface OutgoingMessage {
  emailId: string;
  projectId: string;
  from: { address: string; name: string | null };
  to: { address: string; name: string | null };
  replyTo: string | null;
  subject: string;
  /** Empty where the message has only text. */
  html: MessageText;
  text: MessageText | null;
  headers: readonly { name: string; value: string }[];
  attachments: readonly OutgoingAttachment[];
  /** Groups messages at the provider: TRANSACTIONAL, CAMPAIGN or WORKFLOW. */
  tag: string;
  stream: MailStream;
  /** Whether the provider counts opens and clicks. */
  tracking: boolean;
}

/** A file inside a message; `content` is base64. `contentId` is set for inline files (`cid:<contentId>`). */
export interface OutgoingAttachment {
  filename: string;
  content: string;
  contentType: string;
  contentId: string | null;
}

/** Mail of one stream never waits behind, or shares suppressions with, the other. */
export type MailStream = 'transactional' | 'broadcast';

/** The outcome of handing over one message. */
export type Verdict =
  /** It took the message; `at` is an ISO instant. */
  | { kind: 'accepted'; messageId: string; at: string }
  /** It will never take this message. `inactive`: it refuses the address for an earlier bounce or complaint. */
  | { kind: 'rejected'; code: number; reason: string; inactive: boolean }
  /**
   * It did not take the message and may later; nothing was sent. `scope` says what was refused: this message, the
   * whole call, or every call until somebody settles a matter of the account. `untried`: it was not even offered, which
   * counts as no attempt.
   */
  | { kind: 'retry'; reason: string; afterMs: number | null; scope: 'message' | 'call' | 'account'; untried?: true }
  /** It may have taken the message: ask `accepted` before sending again. */
  | { kind: 'unknown'; reason: string };

/** The messages that a provider accepted under a claim: message ID and instant by our email ID. */
export type Accepted = Map<string, { messageId: string; at: string }>;

/** A message that the provider accepted, as its search lists it. `at` is an ISO instant, `tag` and our IDs are what it was handed over with. */
export interface ListedMessage {
  messageId: string;
  at: string;
  emailId: string;
  projectId: string;
  recipient: string;
  subject: string;
  tag: string;
}

/** A page of a list of messages; `next` is the position of the next page, null after the last. */
export interface ListedPage {
  messages: ListedMessage[];
  next: string | null;
}

/** A call that is being put together. */
export interface MailerCall {
  add(message: OutgoingMessage): void;
  /** Hands over what was added, once: see `Mailer.send`. */
  send(): Promise<Verdict[]>;
}

/** Begins a call with any mailer. */
export function beginCall(mailer: Mailer, claimId: string): MailerCall {
  if (mailer.begin) return mailer.begin(claimId);
  const messages: OutgoingMessage[] = [];
  return { add: (message) => void messages.push(message), send: () => mailer.send(claimId, messages) };
}

/** A delivery provider. Every method is safe to call from many places at once. */
export interface Mailer {
  readonly name: string;
  readonly maxBatchMessages: number;
  readonly maxBatchBytes: number;
  readonly maxMessageBytes: number;
  /** Extensions of files that it never carries, lower case; none when absent. */
  readonly refusedExtensions?: ReadonlySet<string>;
  /**
   * Hands over messages of one stream, which all carry the claim's id as metadata; verdicts come in input order.
   * Never rejects: a failed call is a verdict of each message. Splits by the provider's batch limits itself.
   */
  send(claimId: string, messages: readonly OutgoingMessage[]): Promise<Verdict[]>;
  /** Begins a call of `send` whose messages come one by one, where a mailer need not keep them as they are. */
  begin?(claimId: string): MailerCall;
  /** Looks up the messages that the provider accepted under this claim. Rejects when the provider cannot be asked. */
  accepted(claimId: string): Promise<Accepted>;
  /**
   * Lists the messages that it has accepted since an ISO instant, a page at a time from `position` on (null for the first), for providers that can
   * be searched. Rejects when the provider cannot be asked, or when the list would have gaps.
   */
  acceptedSince?(since: string, position: string | null): Promise<ListedPage>;
  /** How long after its beginning a call may still bring messages to the provider, in milliseconds; 0 when absent. */
  readonly longestCallMs?: number;
  /** For providers that cannot be searched, where `accepted` answers from our own record of hand-overs. */
  readonly unconfirmed?: Unconfirmed;
}

/** Finds the messages of a claim that are unconfirmed because answers were lost. */
interface Unconfirmed {
  /** How long after its claim a report of the provider may still prove a message, in milliseconds. */
  proofMs: number;
  /** Our email ids that may be with the provider. Rejects when they cannot be read. */
  unsure(claimId: string): Promise<ReadonlySet<string>>;
}

/** The state of a message before it is handed over: new, accepted already, or possibly accepted. */
export type Begun = 'now' | 'unsure' | { messageId: string; at: string };

/**
 * The caller's record of hand-overs, for providers that cannot be searched. A message is written down before its first byte
 * leaves, and again when the provider's answer is there, so that what a crash or a lost answer leaves unconfirmed is exactly
 * the messages that were on the wire.
 */
export interface HandoverJournal {
  /** Writes down that a message is about to leave. Rejects when it could not; then the message must not leave. */
  begin(claimId: string, emailId: string): Promise<Begun>;
  /** Writes down that the provider took it. Never rejects. */
  took(claimId: string, emailId: string, messageId: string, at: string): Promise<void>;
  /** Writes down that it certainly is not with the provider. Never rejects. */
  refused(claimId: string, emailId: string): Promise<void>;
  /** Returns the messages that the provider took under a claim. */
  accepted(claimId: string): Promise<Accepted>;
  /** Returns the IDs of emails that the provider may have taken under a claim. */
  unsure(claimId: string): Promise<ReadonlySet<string>>;
}

/** A DNS record that a provider asks for, and whether it has seen it. */
export interface ProviderRecord {
  purpose: 'DKIM' | 'RETURN_PATH' | 'SPF' | 'DMARC' | 'INBOUND_MX';
  type: 'TXT' | 'CNAME' | 'MX';
  name: string;
  value: string;
  priority: number | null;
  verified: boolean;
}

/** A domain in the register of the mail provider. */
export interface ProviderDomain {
  providerId: string;
  /** `Failed`: it has stopped checking and must be asked to begin again. */
  state: 'Pending' | 'Success' | 'Failed';
  /** Its DKIM selectors. */
  tokens: string[];
  /** Records to set; all with the purpose DKIM are needed to send. */
  records: ProviderRecord[];
}

/** The provider's register of sender domains. Every method rejects when the provider cannot be asked. */
export interface DomainProvider {
  /** Registers the domain, or finds it where it is registered already. */
  create(domain: string): Promise<ProviderDomain>;
  /** Lets the provider check the DNS records now; one that had stopped checking begins again. */
  check(providerId: string): Promise<ProviderDomain>;
  /** Removes the domain; one that is gone already counts as removed. */
  remove(providerId: string): Promise<void>;
}

/** An event in the life of a mail after the provider took it. Instants are ISO. */
export type MailEffect =
  /** The provider has taken the mail: reported by those whose answers may get lost. */
  | { kind: 'sent' }
  /** The provider took the mail and then refused to send it, or could not make it. */
  | { kind: 'failure'; error: string }
  | { kind: 'delivery' }
  | { kind: 'open' }
  | { kind: 'click'; link: string }
  | { kind: 'bounce'; bounceType: 'Permanent' | 'Transient' | 'Undetermined'; error: string | null }
  | { kind: 'complaint' }
  /** The provider sends this recipient nothing more. `own`: because the recipient asked for it. */
  | { kind: 'optOut'; own: true }
  | { kind: 'optOut'; own: false; reason: 'bounce' | 'complaint' };

/** A report of the provider about one mail. */
export interface Notification {
  /** Names the report, so that it counts once however often it is delivered. */
  key: string;
  /** Our ids, as they travelled with the mail; null when they did not. */
  emailId: string | null;
  projectId: string | null;
  /** The provider's id of the mail. */
  messageId: string | null;
  recipient: string;
  at: string;
  effect: MailEffect;
}

/** The result of a filter or a check of a received mail. */
export type MailVerdict = 'PASS' | 'FAIL' | 'GRAY' | 'PROCESSING_FAILED';

/** The checks that a provider may report of a received mail; what it does not report is absent. */
export interface MailVerdicts {
  spamVerdict?: MailVerdict;
  virusVerdict?: MailVerdict;
  spfVerdict?: MailVerdict;
  dkimVerdict?: MailVerdict;
  dmarcVerdict?: MailVerdict;
}

/** A mail that somebody sent to a domain of ours (docs/contract/platform.md#8-4). */
export interface ReceivedMail {
  /** Names the mail, so that it counts once however often it is delivered. */
  key: string;
  /** The provider that took it in, as the ledger calls it. */
  provider: string;
  messageId: string;
  /** The sender's address, and the `From` header as it was written. */
  from: string;
  fromHeader: string | null;
  subject: string | null;
  /** ISO. */
  timestamp: string;
  /** Addresses it was received for, the likeliest first; whose domains are ours decides to whom it belongs. */
  received: readonly string[];
  /** Every address it names. */
  recipients: readonly string[];
  hasContent: boolean;
  /** Sanitised HTML; null without content. */
  body: string | null;
  verdicts: MailVerdicts;
  processingTimeMillis: number | null;
}

/** Reads what `Received-SPF` and `Authentication-Results` call a result (RFC 8601, 2.7). */
export function parseMailVerdict(result: string): MailVerdict {
  const word = result.toLowerCase();
  if (word === 'pass') return 'PASS';
  if (word === 'fail' || word === 'policy') return 'FAIL';
  return word === 'temperror' || word === 'permerror' ? 'PROCESSING_FAILED' : 'GRAY';
}
