import { nameSchemas } from '@fernpost/openapi/names';
import { choiceParameter, Instant, limitParameter, Uuid } from '@fernpost/validation';
import * as v from 'valibot';
import { CursorParameter } from '../../../core/lib/cursor.ts';
import { campaignCounts } from '../schema.ts';
import { verdicts } from './verdicts.ts';

/** A version of the content of a send. */
export const SentVersion = v.object({
  version: v.number(),
  subject: v.string(),
  sentCount: v.pipe(v.number(), v.description('How many recipients got this version.')),
  replacedAt: v.pipe(v.nullable(Instant), v.description('When a revision replaced it; null for the current one.')),
});
export type SentVersion = v.InferOutput<typeof SentVersion>;

/** Counts and rates of a campaign; a rate is a percentage of `sentCount`, 0 when nothing was sent. */
export const CampaignStats = v.object({
  ...campaignCounts,
  /** Left out on purpose: unsubscribed, suppressed, cancelled. */
  skippedCount: v.number(),
  failedCount: v.number(),
  /** Without a verdict yet. */
  pendingCount: v.number(),
  openRate: v.number(),
  clickRate: v.number(),
  bounceRate: v.number(),
  deliveryRate: v.number(),
  complaintRate: v.number(),
  unsubscribeRate: v.number(),
  pausedAt: v.nullable(Instant),
  held: v.nullable(v.string()),
  versions: v.pipe(
    v.array(SentVersion),
    v.description('The versions of the content that the current send has handed over, the first one first.'),
  ),
});
export type CampaignStats = v.InferOutput<typeof CampaignStats>;

/** The ledger of a campaign's current send, counted row by row. */
export const CampaignAudit = v.object({
  /** Rows of the ledger. */
  recipients: v.number(),
  handedOver: v.number(),
  skipped: v.number(),
  failed: v.number(),
  /** May be with the provider; it is being found out. */
  unknown: v.number(),
  /** Not begun yet. */
  pending: v.number(),
  /** Rows that went with contacts which were deleted after the send had ended. */
  removed: v.number(),
  /** Whether the send has ended with a verdict for every row, and rows and the campaign's counters agree. */
  addsUp: v.boolean(),
  /** SHA-256, in hex, of the file that `GET …/recipients?format=csv` answers; null until the send has ended. */
  hash: v.nullable(v.string()),
  hashFormat: v.pipe(
    v.number(),
    v.description('Which columns the hashed file has: 2 since it ends with `version`, 1 without.'),
  ),
  /**
   * Reasons of what was skipped or failed, with how many rows have each; the most frequent first, ten at most. The
   * recipient's own address in a reason is left out here, so that refusals of one kind are one.
   */
  reasons: v.array(v.object({ reason: v.string(), count: v.number() })),
});
export type CampaignAudit = v.InferOutput<typeof CampaignAudit>;

/** `GET /campaigns/{id}/recipients`: `type` for bounces and complaints, otherwise the whole ledger. */
export const ListRecipients = v.object({
  type: choiceParameter('Recipients whose email bounced or was reported as spam, in place of the ledger.', [
    'bounced',
    'complained',
  ]),
  verdict: choiceParameter('The whole ledger when absent.', [...verdicts, 'all'], 'all'),
  format: choiceParameter('A file of all rows, whatever `limit` and `cursor` say.', ['csv']),
  limit: limitParameter(50, 100),
  cursor: CursorParameter,
});
export type ListRecipients = v.InferOutput<typeof ListRecipients>;

/** A recipient whose message bounced or was complained about. */
export const ReportedRecipient = v.object({ emailId: Uuid, contactId: Uuid, email: v.string(), occurredAt: Instant });
export type ReportedRecipient = v.InferOutput<typeof ReportedRecipient>;

/** A row of the ledger. */
export const LedgerRecipient = v.object({
  emailId: Uuid,
  contactId: Uuid,
  email: v.string(),
  verdict: v.picklist(verdicts),
  /** Why it was skipped or failed. */
  reason: v.nullable(v.string()),
  version: v.pipe(
    v.nullable(v.number()),
    v.description('The version of the content that was handed over; null where nothing was.'),
  ),
  /** The provider's id. */
  messageId: v.nullable(v.string()),
  sentAt: v.nullable(Instant),
  /** When the message was handed over; of others, when the row changed last. */
  occurredAt: Instant,
});
export type LedgerRecipient = v.InferOutput<typeof LedgerRecipient>;

/** A page of recipients; `cursor` is there while there is more. */
export const RecipientsPage = v.object({
  success: v.literal(true),
  data: v.union([v.array(LedgerRecipient), v.array(ReportedRecipient)]),
  cursor: v.optional(v.string()),
  hasMore: v.boolean(),
  /** The campaign's counter of what is listed. */
  total: v.nullable(v.number()),
});

nameSchemas({ SentVersion, CampaignStats, CampaignAudit, CampaignRecipientsPage: RecipientsPage });
