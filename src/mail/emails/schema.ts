import * as v from 'valibot';
import { CursorParameter } from '../../lib/pages.ts';
import { EmailField } from '../../lib/validation/email-address.ts';
import {
  choice,
  choiceParameter,
  field,
  Instant,
  Integer,
  limitParameter,
  NullableInstant,
  nameSchemas,
  parameter,
  Uuid,
} from '../../lib/validation/fields.ts';
import { mailSources } from '../ledger/queries.ts';
import { reasonCodes } from '../ledger/reasons.ts';
import { mailStatuses } from '../status.ts';
import { ScheduledFor } from './schedule.ts';

const NullableId = v.nullable(Uuid);

/** A mail in a list. */
export const EmailSummary = v.object({
  id: field('ID of the email.', Uuid),
  contact: field(
    'The recipient; for received emails, the sender.',
    v.object({ id: field('ID of the contact.', Uuid), email: field('Current address of the contact.', v.string()) }),
  ),
  to: field('Address the email was sent to.', v.string()),
  from: field('Address of the sender.', v.string()),
  sender: field(
    'Sender of a received email, from its `From` header; null for emails that the project sends.',
    v.nullable(
      v.object({
        email: field('Address of the sender.', v.string()),
        name: field('Display name of the sender; null if there is none.', v.nullable(v.string())),
      }),
    ),
  ),
  subject: field('Subject line as sent; before that, as given in the request, with its variables.', v.string()),
  status: field(
    '`PENDING`, `SENDING`, `SENT`, `DELIVERED`, `OPENED` or `CLICKED`; or `BOUNCED`, `COMPLAINED`, `FAILED`, `SUPPRESSED` or `CANCELLED`. `RECEIVED` for inbound emails.',
    v.picklist(mailStatuses),
  ),
  source: field(
    'What the email was created by: `TRANSACTIONAL` for a request, `CAMPAIGN`, `WORKFLOW`, or `INBOUND` for received emails.',
    v.picklist(mailSources),
  ),
  templateId: field('ID of the template it was created from; null if there was none.', NullableId),
  campaignId: field('ID of the campaign it belongs to; null for other emails.', NullableId),
  workflowExecutionId: field('ID of the workflow execution that sent it; null for other emails.', NullableId),
  error: field('Why the email was not sent, or why it bounced, as a sentence; null otherwise.', v.nullable(v.string())),
  errorCode: field(
    'Code of `error`, for programs: the wording of `error` may change. Null when `error` is.',
    v.nullable(v.picklist(reasonCodes)),
  ),
  opens: field('Number of times the email was opened.', Integer),
  clicks: field('Number of times a link was clicked.', Integer),
  scheduledFor: field(
    'Time chosen for sending, with `scheduledFor` in the request; null if none was.',
    NullableInstant,
  ),
  heldUntil: field(
    'When a held email is sent unless it is canceled or released before; null if it was not held.',
    NullableInstant,
  ),
  heldBy: field(
    'Why it is held: `request`, for `hold` of the request, or `quietHours` of the project; null if it was not held.',
    v.nullable(v.picklist(['request', 'quietHours'])),
  ),
  createdAt: field('When the email was created.', Instant),
  sentAt: field('When the mail provider accepted the email; null before.', NullableInstant),
});
export type EmailSummary = v.InferOutput<typeof EmailSummary>;

/** Something that happened to a mail. */
const TimelineItem = v.object({
  at: field('When it happened.', Instant),
  type: field(
    '`accepted`, `sent`, `delivery`, `open`, `click`, `bounce`, `complaint`, `failed`, `suppressed` or `cancelled`.',
    v.string(),
  ),
  detail: field(
    'Details of the event, such as the link of a click; null if there are none.',
    v.nullable(v.record(v.string(), v.unknown())),
  ),
});
export type TimelineItem = v.InferOutput<typeof TimelineItem>;

/** A mail with what happened to it, oldest first. */
export const EmailRecord = v.object({
  ...EmailSummary.entries,
  fromName: field('Display name of the sender; null if there is none.', v.nullable(v.string())),
  replyTo: field('Reply-To address; null if there is none.', v.nullable(v.string())),
  headers: field(
    'Custom headers given in the request; null if there are none.',
    v.nullable(v.record(v.string(), v.string())),
  ),
  messageId: field('ID of the message at the mail provider; null before it is sent.', v.nullable(v.string())),
  provider: field(
    'Mail provider that sent it: `postmark`, `ses`, `smtp` or `sandbox`; null before it is sent.',
    v.nullable(v.string()),
  ),
  attempts: field(
    'Number of attempts to send the email so far, while it is pending; null afterwards.',
    v.nullable(Integer),
  ),
  lastRefusal: field(
    'Response of the mail provider to the latest attempt, while the email is pending; null afterwards.',
    v.nullable(v.string()),
  ),
  suppression: field(
    'The suppression rule that stopped the email, as it was at that time; null if none did.',
    v.nullable(v.record(v.string(), v.unknown())),
  ),
  deliveredAt: field('When the email was delivered; null if that was not reported.', NullableInstant),
  openedAt: field('When the email was first opened; null if it was not.', NullableInstant),
  clickedAt: field('When a link was first clicked; null if none was.', NullableInstant),
  bouncedAt: field('When the email bounced; null if it did not.', NullableInstant),
  complainedAt: field('When the email was reported as spam; null if it was not.', NullableInstant),
  tags: field(
    'Tags given in the request, as names with values; empty if there are none.',
    v.record(v.string(), v.string()),
  ),
  campaignVersion: field(
    'Version of the campaign’s content that was sent; null for other emails and before it is sent.',
    v.nullable(Integer),
  ),
  resendOf: field('ID of the failed email that this one resends; null for other emails.', NullableId),
  resends: field('IDs of the emails that resend this one, oldest first.', v.array(Uuid)),
  timeline: field('What happened to the email, oldest first.', v.array(TimelineItem)),
  body: field(
    'HTML body, with `include=body`; null once it was emptied after EMAIL_BODY_RETENTION_DAYS.',
    v.optional(v.nullable(v.string())),
  ),
  text: field('Plain-text part, with `include=body`; null if there is none.', v.optional(v.nullable(v.string()))),
});
export type EmailRecord = v.InferOutput<typeof EmailRecord>;

/** `GET /v1/emails/{id}`. */
export const GetEmail = v.object({
  include: field('`body` adds the HTML and the text part.', v.optional(v.picklist(['body'], 'must be body'))),
});

/** `PATCH /v1/emails/{id}`. */
export const MoveEmail = v.object({
  scheduledFor: field(
    'New time to send the email, as an ISO 8601 instant with an offset; at most 30 days ahead. A time in the past sends it immediately.',
    ScheduledFor,
  ),
});

/** `POST /v1/emails/{id}/resend`. */
export const ResendEmail = v.object({
  evenIfItArrived: field(
    'Whether to also resend an email that may have arrived. The recipient may receive it twice.',
    v.optional(v.boolean(), false),
  ),
});

/** Which mail a list is about. */
const filters = {
  contactId: field('Emails of this contact.', v.optional(v.pipe(v.string(), v.uuid('must be the id of a contact')))),
  to: field('Emails to this address, if it is a contact’s current address.', v.optional(EmailField)),
  tag: parameter('Emails sent with this tag, as `name:value`.'),
  status: field('Emails with this status; all when absent.', v.optional(choice(mailStatuses))),
  source: field(
    'Emails created by this source: `TRANSACTIONAL`, `CAMPAIGN`, `WORKFLOW` or `INBOUND`; all when absent.',
    v.optional(choice(mailSources)),
  ),
  subject: field(
    'Words of the subject, in any order and letter case; parts of words match too. Pending emails and campaign emails are searched by the subject as given, with its variables. Up to 200 characters.',
    v.optional(v.pipe(v.string(), v.maxLength(200, 'must have at most 200 characters'))),
  ),
  from: parameter(
    'Emails created at or after this time. Required, at most 31 days before `until`, unless `contactId`, `to` or `tag` is given.',
    { format: 'date-time' },
  ),
  until: parameter('Emails created before this time; now when absent.', { format: 'date-time' }),
};

/** `GET /v1/emails`. */
export const ListEmails = v.object({
  ...filters,
  scheduled: choiceParameter(
    '`true` lists emails that wait for their chosen time, soonest first. It needs no `contactId`, `to`, `tag` or `from`.',
    ['true'],
  ),
  cursor: CursorParameter,
  limit: limitParameter(20, 100),
});
export type ListEmails = v.InferOutput<typeof ListEmails>;

/** `POST /emails/export`. */
export const ExportEmails = v.object(filters);
export type EmailFilters = v.InferOutput<typeof ExportEmails>;

/** A page of mail, the latest first. */
export const EmailsPage = v.object({
  data: field('Emails on this page, newest first; with `scheduled`, soonest first.', v.array(EmailSummary)),
  cursor: field('Pass it as `cursor` to get the next page; null on the last page.', v.nullable(v.string())),
  hasMore: field(
    'Whether there is another page. A page may be short or even empty although there is one.',
    v.boolean(),
  ),
  lookedBackTo: field(
    'How far back this page has searched; null on the last page, and with `scheduled`.',
    NullableInstant,
  ),
});
export type EmailsPage = v.InferOutput<typeof EmailsPage>;

nameSchemas({ Email: EmailRecord, EmailSummary, EmailPage: EmailsPage, EmailTimelineItem: TimelineItem });
