import type { OutgoingMessage } from '@posthorn/mail-providers';
import type { TemplateType } from '../../content/templates/index.ts';
import { type Database, sql } from '../../core/database/sql.ts';
import type { ClaimedRecipient } from './ledger.ts';

/** Everything that is the same for each message of a send. It cannot change while the campaign is SENDING. */
export interface CampaignContent {
  campaignId: string;
  projectId: string;
  subject: string;
  body: string;
  from: string;
  fromName: string | null;
  replyTo: string | null;
  type: TemplateType;
  project: {
    name: string;
    tracking: 'ENABLED' | 'DISABLED' | 'MARKETING_ONLY';
    language: string;
    escapeContactData: boolean;
  };
}

/** Prepares a campaign's content once and answers what renders it for one recipient. What that throws fails one message. */
export type PrepareCampaign = (content: CampaignContent) => (recipient: ClaimedRecipient) => OutgoingMessage;

/** The content of a send; null when the campaign is gone or has moved on to another send. */
export function loadContent(db: Database, campaignId: string, sendSeq: number): Promise<CampaignContent | null> {
  return db.row(sql`
    select c.id as "campaignId", c.project_id as "projectId", c.subject, c.body, c."from", c.from_name as "fromName",
      c.reply_to as "replyTo", c.type,
      jsonb_build_object('name', p.name, 'tracking', p.tracking, 'language', p.language,
        'escapeContactData', p.escape_contact_data) as project
    from campaigns c join projects p on p.id = c.project_id
    where c.id = ${campaignId} and c.send_seq = ${sendSeq}`);
}

/** Message bytes that one claim may bring into memory at most, about. */
const claimBytes = 8 * 1024 * 1024;

/**
 * How many recipients a claim of this content takes: `chunk`, or fewer where messages are large, so that the memory of a
 * worker does not depend on the size of the mail.
 */
export function claimSize(content: Pick<CampaignContent, 'body'>, chunk: number): number {
  // HTML and text part, and the JSON of both.
  const messageBytes = 3 * Buffer.byteLength(content.body) + 2000;
  return Math.max(1, Math.min(chunk, Math.floor(claimBytes / messageBytes)));
}
