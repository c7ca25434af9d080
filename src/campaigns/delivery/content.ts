import type { OutgoingMessage } from '../../domains/providers/mailer.ts';
import type { ComposeNotes, Composer } from '../../mail/engine/compose.ts';
import type { Reason } from '../../mail/ledger/reasons.ts';
import { type Database, sql } from '../../store/sql.ts';
import type { TemplateType } from '../../templates/queries.ts';
import type { ClaimedRecipient } from './ledger.ts';

/** The facts by which a recipient of a campaign may be written to, the same for all of a claim. */
export interface RecipientFacts {
  projectDisabled: boolean;
  domainVerified: boolean;
  /** Whether contacts that have unsubscribed meanwhile are left out. */
  needsSubscription: boolean;
}

/** Returns why a recipient gets nothing although the audience has them; null where the message may go. */
export function campaignRefusal(facts: RecipientFacts, { subscribed }: { subscribed: boolean }): Reason | null {
  if (facts.projectDisabled) return { code: 'project_disabled' };
  if (!facts.domainVerified) return { code: 'domain_unverified' };
  return facts.needsSubscription && !subscribed ? { code: 'unsubscribed' } : null;
}

/** Everything that is the same for each message of a send. While the campaign is SENDING it changes by a revision only. */
interface CampaignContent {
  campaignId: string;
  projectId: string;
  /** Counts the revisions of a send, from 1. */
  version: number;
  subject: string;
  body: string;
  from: string;
  fromName: string | null;
  replyTo: string | null;
  type: TemplateType;
  /** Whether the send is at its canary. */
  canary: boolean;
  /** The key whose limits hold for the send, null for none. */
  limitedBy: string | null;
  project: {
    name: string;
    tracking: 'ENABLED' | 'DISABLED' | 'MARKETING_ONLY';
    language: string;
    escapeContactData: boolean;
  };
}

/**
 * Prepares a campaign's content once and returns the function that renders it for one recipient, with notes on how that went where
 * they are wanted. An error of it fails one message.
 */
export type PrepareCampaign = (
  content: CampaignContent,
) => (recipient: ClaimedRecipient, notes?: ComposeNotes) => OutgoingMessage;

/** `PrepareCampaign` by a composer. */
export function prepareBy(compose: Composer): PrepareCampaign {
  return (content) =>
    ({ emailId, contactId, toAddress, email, subscribed, data }, notes) =>
      compose({
        ...content,
        notes,
        messageClass: content.type,
        sourceType: 'CAMPAIGN',
        emailId,
        to: { address: toAddress, name: null },
        contact: { id: contactId, email, subscribed, data },
      });
}

/** Reads the content of a send; null when the campaign is gone or has moved on to another send. */
export function loadContent(db: Database, campaignId: string, sendSeq: number): Promise<CampaignContent | null> {
  return db.row(sql`
    select c.id as "campaignId", c.project_id as "projectId", c.content_version as version, c.subject, c.body, c."from", c.from_name as "fromName",
      c.reply_to as "replyTo", c.type, coalesce(s.canary, false) as canary, s.limited_by as "limitedBy",
      jsonb_build_object('name', p.name, 'tracking', p.tracking, 'language', p.language,
        'escapeContactData', p.escape_contact_data) as project
    from campaigns c join projects p on p.id = c.project_id
      left join campaign_sends s on s.campaign_id = c.id and s.send_seq = c.send_seq
    where c.id = ${campaignId} and c.send_seq = ${sendSeq}`);
}

/** Message bytes that one claim may bring into memory at most, about. */
const claimBytes = 8 * 1024 * 1024;

/**
 * Returns how many recipients a claim of this content takes: `chunk`, or fewer where messages are large, so that the memory of a
 * worker does not depend on the size of the mail.
 */
export function claimSize(content: Pick<CampaignContent, 'body'>, chunk: number): number {
  // HTML and text part, and the JSON of both.
  const messageBytes = 3 * Buffer.byteLength(content.body) + 2000;
  return Math.max(1, Math.min(chunk, Math.floor(claimBytes / messageBytes)));
}
