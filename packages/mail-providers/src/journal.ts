import type { Accepted } from './mailer.ts';

/** What is known of a message before it is handed over: nothing, that it was taken, or that it may have been. */
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
  /** What the provider took under a claim. */
  accepted(claimId: string): Promise<Accepted>;
  /** What may be with the provider under a claim although nobody can tell. */
  unsure(claimId: string): Promise<ReadonlySet<string>>;
}
