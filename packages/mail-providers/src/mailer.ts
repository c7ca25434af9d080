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

/** What the provider did with one message. */
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

/** What a provider found of a claim: message id and instant by our email id. */
export type Accepted = Map<string, { messageId: string; at: string }>;

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
  /** What the provider accepted under this claim. Rejects when the provider cannot be asked. */
  accepted(claimId: string): Promise<Accepted>;
  /** How long after its beginning a call may still bring messages to the provider, in milliseconds; 0 when absent. */
  readonly longestCallMs?: number;
  /** For providers that cannot be searched, where `accepted` answers from our own record of hand-overs. */
  readonly doubt?: Doubt;
}

/** What is unconfirmed of a claim because its answers were lost. */
interface Doubt {
  /** How long after its claim a report of the provider may still prove a message, in milliseconds. */
  proofMs: number;
  /** Our email ids that may be with the provider. Rejects when they cannot be read. */
  unsure(claimId: string): Promise<ReadonlySet<string>>;
}
