import { nameSchemas } from '@fernpost/openapi/names';
import {
  choice,
  choiceParameter,
  EmailField,
  Instant,
  limitParameter,
  NullableInstant,
  parameter,
  Uuid,
} from '@fernpost/validation';
import * as v from 'valibot';
import { CursorParameter } from '../../core/lib/cursor.ts';
import { mailSources, mailStatuses, reasonCodes } from '../ledger/index.ts';
import { ScheduledFor } from './schedule.ts';

const NullableId = v.nullable(Uuid);

/** A mail in a list. */
export const EmailSummary = v.object({
  id: Uuid,
  contact: v.object({ id: Uuid, email: v.string() }),
  to: v.string(),
  from: v.string(),
  sender: v.pipe(
    v.nullable(v.object({ email: v.string(), name: v.nullable(v.string()) })),
    v.description('Who sent a received email, by its `From` header; null for emails that the project sends.'),
  ),
  subject: v.pipe(v.string(), v.description('As it was sent; before that, as it was given, with its variables.')),
  status: v.picklist(mailStatuses),
  source: v.picklist(mailSources),
  templateId: NullableId,
  campaignId: NullableId,
  workflowExecutionId: NullableId,
  error: v.pipe(v.nullable(v.string()), v.description('Why it was not sent, or bounced.')),
  errorCode: v.pipe(
    v.nullable(v.picklist(reasonCodes)),
    v.description('The kind of `error`, for programs: its sentence may change.'),
  ),
  opens: v.number(),
  clicks: v.number(),
  scheduledFor: v.pipe(NullableInstant, v.description('When it is to be sent, if a time was chosen.')),
  heldUntil: v.pipe(NullableInstant, v.description('When it is sent unless it is cancelled or released before.')),
  createdAt: Instant,
  sentAt: NullableInstant,
});
export type EmailSummary = v.InferOutput<typeof EmailSummary>;

/** Something that happened to a mail. */
const TimelineItem = v.object({
  at: Instant,
  type: v.pipe(
    v.string(),
    v.description(
      '`accepted`, `sent`, `delivery`, `open`, `click`, `bounce`, `complaint`, `failed`, `suppressed` or `cancelled`.',
    ),
  ),
  detail: v.pipe(
    v.nullable(v.record(v.string(), v.unknown())),
    v.description('Details of the event, such as the link of a click.'),
  ),
});
export type TimelineItem = v.InferOutput<typeof TimelineItem>;

/** A mail with what happened to it, oldest first. */
export const EmailRecord = v.object({
  ...EmailSummary.entries,
  fromName: v.nullable(v.string()),
  replyTo: v.nullable(v.string()),
  headers: v.nullable(v.record(v.string(), v.string())),
  messageId: v.nullable(v.string()),
  provider: v.nullable(v.string()),
  attempts: v.pipe(
    v.nullable(v.number()),
    v.description('Attempts to send it so far, while it is pending; null afterwards.'),
  ),
  lastRefusal: v.pipe(
    v.nullable(v.string()),
    v.description('What the provider answered to the latest attempt, while it is pending; null afterwards.'),
  ),
  suppression: v.nullable(v.record(v.string(), v.unknown())),
  deliveredAt: NullableInstant,
  openedAt: NullableInstant,
  clickedAt: NullableInstant,
  bouncedAt: NullableInstant,
  complainedAt: NullableInstant,
  tags: v.record(v.string(), v.string()),
  campaignVersion: v.pipe(
    v.nullable(v.number()),
    v.description('The version of the campaign’s content it has; null for other emails and before it is sent.'),
  ),
  resendOf: v.pipe(NullableId, v.description('The failed email that this one resends.')),
  resends: v.pipe(v.array(Uuid), v.description('Emails that resend this one, oldest first.')),
  timeline: v.array(TimelineItem),
  body: v.optional(
    v.pipe(
      v.nullable(v.string()),
      v.description('The HTML, with `include=body`; null once it was emptied after EMAIL_BODY_RETENTION_DAYS.'),
    ),
  ),
  text: v.optional(v.pipe(v.nullable(v.string()), v.description('The text part, beside `body`.'))),
});
export type EmailRecord = v.InferOutput<typeof EmailRecord>;

/** `GET /v1/emails/{id}`. */
export const GetEmail = v.object({
  include: v.optional(v.picklist(['body'], 'must be body')),
});

/** `PATCH /v1/emails/{id}`. */
export const MoveEmail = v.object({ scheduledFor: ScheduledFor });

/** `POST /v1/emails/{id}/resend`. */
export const ResendEmail = v.object({
  evenIfItArrived: v.pipe(
    v.optional(v.boolean(), false),
    v.description('Also resend an email that may have arrived; the recipient may receive it twice.'),
  ),
});

/** Which mail a list is about. */
const filters = {
  contactId: v.optional(v.pipe(v.string(), v.uuid('must be the id of a contact'))),
  to: v.optional(EmailField),
  tag: parameter('`name:value`: emails sent with this tag.'),
  status: v.optional(choice(mailStatuses)),
  source: v.optional(choice(mailSources)),
  subject: v.optional(
    v.pipe(
      v.string(),
      v.maxLength(200, 'must have at most 200 characters'),
      v.description(
        'Words of the subject, in any order and letter case, also parts of words. Of mail that waits and of campaigns, the subject as it was given, with its variables.',
      ),
    ),
  ),
  from: parameter('Emails created at or after this time.', { format: 'date-time' }),
  until: parameter('Emails created before this time; now when absent.', { format: 'date-time' }),
};

/** `GET /v1/emails`. */
export const ListEmails = v.object({
  ...filters,
  scheduled: choiceParameter(
    'Emails scheduled for a chosen time, the next one first. Needs no contact, tag or time span.',
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
  data: v.array(EmailSummary),
  cursor: v.nullable(v.string()),
  hasMore: v.pipe(
    v.boolean(),
    v.description(
      'Whether there is another page. A page may be short or empty although there is one: continue with `cursor`.',
    ),
  ),
  lookedBackTo: v.pipe(
    NullableInstant,
    v.description('How far back this page has searched, if there is another; null otherwise, and for `scheduled`.'),
  ),
});
export type EmailsPage = v.InferOutput<typeof EmailsPage>;

nameSchemas({ Email: EmailRecord, EmailSummary, EmailPage: EmailsPage, EmailTimelineItem: TimelineItem });
