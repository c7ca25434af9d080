import * as v from 'valibot';
import { CursorParameter } from '../../lib/pages.ts';
import {
  choiceParameter,
  describedFields,
  field,
  Instant,
  Integer,
  limitParameter,
  nameSchemas,
  parameter,
  Uuid,
} from '../../lib/validation/fields.ts';
import { campaignCounts } from '../schema.ts';
import { deeds, verdicts } from './verdicts.ts';

/** A version of the content of a send. */
export const SentVersion = v.object({
  version: field('Version number of the content, from 1.', Integer),
  subject: field('Subject line of this version, with Liquid variables.', v.string()),
  sentCount: field('Number of recipients who received this version.', Integer),
  replacedAt: field('When a revision replaced this version; null for the current one.', v.nullable(Instant)),
});
export type SentVersion = v.InferOutput<typeof SentVersion>;

/** Counts and rates of a campaign; a rate is a percentage of `sentCount`, 0 when nothing was sent. */
export const CampaignStats = v.object({
  ...campaignCounts,
  skippedCount: field('Number of recipients skipped on purpose: unsubscribed, suppressed or cancelled.', Integer),
  failedCount: field('Number of recipients whose email was refused or given up.', Integer),
  pendingCount: field('Number of recipients without a result yet; 0 once the send has ended.', Integer),
  openRate: field('`openedCount` as a percentage of `sentCount`; 0 when nothing was sent.', v.number()),
  clickRate: field('`clickedCount` as a percentage of `sentCount`; 0 when nothing was sent.', v.number()),
  bounceRate: field('`bouncedCount` as a percentage of `sentCount`; 0 when nothing was sent.', v.number()),
  deliveryRate: field('`deliveredCount` as a percentage of `sentCount`; 0 when nothing was sent.', v.number()),
  complaintRate: field('`complainedCount` as a percentage of `sentCount`; 0 when nothing was sent.', v.number()),
  unsubscribeRate: field('`unsubscribedCount` as a percentage of `sentCount`; 0 when nothing was sent.', v.number()),
  pausedAt: field('When the campaign was paused; null while it is not paused.', v.nullable(Instant)),
  held: field(
    'Why a campaign that is `SENDING` makes no progress, as a sentence for people; null while it does.',
    v.nullable(v.string()),
  ),
  versions: field('Versions of the content that the current send has used, oldest first.', v.array(SentVersion)),
});
export type CampaignStats = v.InferOutput<typeof CampaignStats>;

/** The ledger of a campaign's current send, counted row by row. */
export const CampaignAudit = v.object({
  recipients: field('Number of rows in the ledger, one for each recipient.', Integer),
  handedOver: field('Number of recipients whose email the mail provider accepted.', Integer),
  skipped: field('Number of recipients skipped on purpose: unsubscribed, suppressed or cancelled.', Integer),
  failed: field('Number of recipients whose email was refused or given up.', Integer),
  unknown: field(
    'Number of recipients whose email is unconfirmed: the mail provider may have it, and it is looked up there before anything is sent again.',
    Integer,
  ),
  pending: field('Number of recipients whose email has not been sent yet.', Integer),
  removed: field(
    'Number of rows removed because the contact was deleted after the send; 0 while it is under way.',
    Integer,
  ),
  notKept: field(
    'Number of recipients whose rows are no longer kept because of their age: they are in the numbers above, and in no list. Absent while all are kept.',
    v.optional(Integer),
  ),
  addsUp: field(
    'Whether the send has ended, every row has a final verdict, and the rows match the campaign’s counters.',
    v.boolean(),
  ),
  hash: field(
    'SHA-256, in hex, of the file that `GET /campaigns/{id}/recipients?format=csv` returns; null until the send has ended, and once rows are no longer kept.',
    v.nullable(v.string()),
  ),
  hashFormat: field('Columns of the hashed file: `2` ends with `version`, `1` does not have that column.', Integer),
  reasons: field(
    'The ten most frequent reasons of skipped and failed recipients, most frequent first. Recipients’ own addresses are removed from them.',
    v.array(
      v.object({
        reason: field('Why recipients were skipped or failed, such as `Contact is unsubscribed`.', v.string()),
        count: field('Number of recipients with this reason.', Integer),
      }),
    ),
  ),
});
export type CampaignAudit = v.InferOutput<typeof CampaignAudit>;

/** `GET /campaigns/{id}/recipients`: `type` for bounces and complaints, otherwise the ledger, by verdict or by what recipients did. */
export const ListRecipients = v.object({
  type: choiceParameter(
    'Lists recipients whose email bounced or was reported as spam, newest first, instead of the ledger.',
    ['bounced', 'complained'],
  ),
  verdict: choiceParameter('Recipients with this verdict.', [...verdicts, 'all'], 'all'),
  did: choiceParameter(
    'Recipients of the ledger whose email was sent, delivered, opened or clicked, bounced, or was reported as spam; who unsubscribed by it; or who neither opened nor clicked it (`not_opened`) or did not click it (`not_clicked`), bounces excluded.',
    deeds,
  ),
  link: parameter('With `did=clicked`, the link they clicked, as in `links` of the results; any link when absent.', {
    examples: ['https://example.com/spring'],
  }),
  format: choiceParameter('`csv` returns all rows as CSV, regardless of `limit` and `cursor`.', ['csv']),
  limit: limitParameter(50, 100),
  cursor: CursorParameter,
});
export type ListRecipients = v.InferOutput<typeof ListRecipients>;

/** A recipient whose message bounced or was complained about. */
export const ReportedRecipient = v.object({
  emailId: field('ID of the email.', Uuid),
  contactId: field('ID of the contact.', Uuid),
  email: field('Address the email was sent to.', v.string()),
  occurredAt: field('When the email bounced or was reported as spam.', Instant),
});
export type ReportedRecipient = v.InferOutput<typeof ReportedRecipient>;

/** A row of the ledger. */
export const LedgerRecipient = v.object({
  emailId: field('ID of the email.', Uuid),
  contactId: field('ID of the contact.', Uuid),
  email: field('Address of the recipient.', v.string()),
  verdict: field(
    '`handed_over`: the mail provider accepted the email. `skipped`: not sent on purpose. `failed`: refused or given up. `unknown`: unconfirmed, being looked up at the mail provider. `pending`: not sent yet.',
    v.picklist(verdicts),
  ),
  reason: field(
    'Why the recipient was skipped or failed, as a sentence; null for other verdicts.',
    v.nullable(v.string()),
  ),
  heldUntil: field(
    'When the quiet hours of the contact end, for which the email is on hold; null for all others.',
    v.nullable(Instant),
  ),
  version: field('Version of the content that was sent; null if nothing was.', v.nullable(Integer)),
  messageId: field('ID of the message at the mail provider; null if it was not sent.', v.nullable(v.string())),
  sentAt: field('When the mail provider accepted the email; null if it did not.', v.nullable(Instant)),
  occurredAt: field(
    'When the email was sent; for other verdicts, when the row last changed; with `did`, when it first happened.',
    Instant,
  ),
});
export type LedgerRecipient = v.InferOutput<typeof LedgerRecipient>;

/** Either of them, as one object: generators for Go cannot tell two lists apart. */
const CampaignRecipient = v.object({
  ...v.partial(LedgerRecipient).entries,
  ...ReportedRecipient.entries,
  verdict: field(
    `${describedFields().get(LedgerRecipient.entries.verdict)?.text} Absent with \`type\`, as everything about sending is.`,
    v.optional(LedgerRecipient.entries.verdict),
  ),
  occurredAt: field(
    'With `type`, when the email bounced or was reported as spam. With `did`, when it first happened; with `not_opened` and `not_clicked`, when the email was sent. Otherwise when it was sent or, for other verdicts, when the row last changed.',
    Instant,
  ),
});

/** A page of recipients; `cursor` is there while there is more. */
export const RecipientsPage = v.object({
  success: field('Always `true`. A failed request returns an `Error` instead.', v.literal(true)),
  data: field(
    'Recipients on this page: rows of the ledger, or, with `type`, recipients whose email bounced or was reported as spam.',
    v.array(CampaignRecipient),
  ),
  cursor: field('Pass it as `cursor` to get the next page; absent on the last page.', v.optional(v.string())),
  hasMore: field('Whether there is another page. A page may be short even if there is one.', v.boolean()),
  total: field(
    'Number of recipients with the `verdict`, `type` or `did`, from the campaign’s counters, so that it equals the one in `stats`; null where no counter has it: the verdicts `unknown` and `pending`, `not_opened`, `not_clicked`, a `link`, and a `verdict` with `did`.',
    v.nullable(Integer),
  ),
});

nameSchemas({ SentVersion, CampaignStats, CampaignAudit, CampaignRecipient, CampaignRecipientsPage: RecipientsPage });
