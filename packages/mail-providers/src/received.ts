/** What a filter or a check said of a received mail. */
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
