/** What happened to a mail after the provider took it. Instants are ISO. */
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
