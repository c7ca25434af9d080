import type { MessageClass } from '@fernpost/message-content';
import type { JsonObjectValue } from '../../core/lib/json.ts';
import type { SourceType } from '../../core/lib/message-kinds.ts';
import type { Reason } from './reasons.ts';
import type { StoredRender } from './stored-render.ts';

/** Every status that a mail can have. */
export const mailStatuses = [
  'PENDING',
  'SENDING',
  'SENT',
  'DELIVERED',
  'RECEIVED',
  'OPENED',
  'CLICKED',
  'BOUNCED',
  'COMPLAINED',
  'FAILED',
  'SUPPRESSED',
  'CANCELLED',
] as const;
export type MailStatus = (typeof mailStatuses)[number];

/** A stored attachment; `content` is base64 and gone once the mail is final. */
interface StoredAttachment {
  filename: string;
  content: string;
  contentType: string;
  disposition?: 'attachment' | 'inline';
  contentId?: string;
}

/** What every mail of the ledger says that is no campaign's. */
export interface MailFacts {
  id: string;
  projectId: string;
  contactId: string;
  toAddress: string;
  toName: string | null;
  from: string;
  fromName: string | null;
  replyTo: string | null;
  headers: Record<string, string> | null;
  attachments: StoredAttachment[] | null;
  sourceType: SourceType;
  messageClass: MessageClass;
  templateId: string | null;
  /** Override of the project's tracking mode. */
  tracking: boolean | null;
}

/** A claimed mail, with the state of the world at the claim. */
export interface ClaimedMail extends MailFacts {
  /** Final subject and body; null while `render` holds what they are made of. */
  subject: string | null;
  body: string | null;
  render: StoredRender | null;
  campaignId: string | null;
  /** Earlier attempts that failed. */
  attempts: number;
  /** Milliseconds since the mail was queued, by the database's clock. */
  ageMs: number;
  contact: { email: string; subscribed: boolean; data: JsonObjectValue };
  project: {
    name: string;
    disabled: boolean;
    tracking: 'ENABLED' | 'DISABLED' | 'MARKETING_ONLY';
    language: string;
    escapeContactData: boolean;
  };
  /** Whether the sender's domain is verified for the project now. */
  domainVerified: boolean;
}

/** Whether mail of this kind goes to subscribed contacts only (docs/contract/core.md#2-5). */
function needsSubscription(mail: MailFacts): boolean {
  if (mail.messageClass === 'MARKETING') return true;
  return mail.messageClass === 'HEADLESS' && mail.sourceType !== 'TRANSACTIONAL';
}

/** Why a mail must not be handed over after all, or null (docs/contract/platform.md#9-2: final checks). */
export function refusalOf(mail: ClaimedMail): Reason | null {
  if (mail.project.disabled) return { code: 'project_disabled' };
  if (!mail.domainVerified) return { code: 'domain_unverified' };
  const asksContact = needsSubscription(mail) && mail.render?.isForOthers !== true;
  return asksContact && !mail.contact.subscribed ? { code: 'not_subscribed' } : null;
}
