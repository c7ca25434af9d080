import { nameSchemas } from '@posthorn/openapi/names';
import {
  choice,
  choiceParameter,
  EmailField,
  Instant,
  limitParameter,
  NullableInstant,
  parameter,
  Uuid,
} from '@posthorn/validation';
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
  scheduledFor: v.pipe(NullableInstant, v.description('When it is to be sent, where the sender chose a time.')),
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
    v.description('What the event says beyond the mail itself, such as the link of a click.'),
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
    v.description('Attempts to hand it over so far, while it waits; null once that is over.'),
  ),
  lastRefusal: v.pipe(
    v.nullable(v.string()),
    v.description('What the provider answered to the latest attempt, while it waits; null once that is over.'),
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
    v.description(
      'The version of the campaign’s content that it has; null for mail of no campaign and mail that has not been sent.',
    ),
  ),
  resendOf: v.pipe(NullableId, v.description('The mail that failed and is sent again by this one.')),
  resends: v.pipe(v.array(Uuid), v.description('Mail that sent this one again, oldest first.')),
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
    v.description('Also send mail of which nobody can tell whether it arrived; the recipient may get it twice.'),
  ),
});

/** Which mail a list is about. */
const filters = {
  contactId: v.optional(v.pipe(v.string(), v.uuid('must be the id of a contact'))),
  to: v.optional(EmailField),
  tag: parameter('`name:value`: mail that was sent with this tag.'),
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
  from: parameter('Mail that was created then or later.', { format: 'date-time' }),
  until: parameter('Mail that was created before it; now when absent.', { format: 'date-time' }),
};

/** `GET /v1/emails`. */
export const ListEmails = v.object({
  ...filters,
  scheduled: choiceParameter(
    'Mail that waits for the time its sender chose, the next to leave first. No person, tag or span is needed.',
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
      'Whether there is another page. A page may be short, or empty, although there is: go on with `cursor`.',
    ),
  ),
  lookedBackTo: v.pipe(
    NullableInstant,
    v.description('How far back this page has looked, where there is another; null otherwise, and for `scheduled`.'),
  ),
});
export type EmailsPage = v.InferOutput<typeof EmailsPage>;

nameSchemas({ Email: EmailRecord, EmailSummary, EmailPage: EmailsPage, EmailTimelineItem: TimelineItem });
