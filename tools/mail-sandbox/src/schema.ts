import * as v from 'valibot';

const text = v.nullish(v.string());

/** One message as Postmark's `POST /email` takes it. Fields that Postmark has and we don't know are dropped. */
export const MessageSchema = v.object({
  From: text,
  To: text,
  Cc: text,
  Bcc: text,
  ReplyTo: text,
  Subject: text,
  HtmlBody: text,
  TextBody: text,
  Tag: text,
  MessageStream: text,
  TrackOpens: v.nullish(v.boolean()),
  TrackLinks: v.nullish(v.picklist(['None', 'HtmlAndText', 'HtmlOnly', 'TextOnly'])),
  Metadata: v.nullish(v.record(v.string(), v.string())),
  Headers: v.nullish(v.array(v.object({ Name: v.string(), Value: v.string() }))),
  Attachments: v.nullish(
    v.array(v.object({ Name: v.string(), Content: v.string(), ContentType: v.string(), ContentID: text })),
  ),
});

/** A message whose field types are right; its content is not yet checked. */
export type SubmittedMessage = v.InferOutput<typeof MessageSchema>;

/** The body of `POST /domains`. */
export const DomainSchema = v.object({ Name: v.string(), ReturnPathDomain: text });

/** Events of a message after it was accepted, as the sandbox's own API names them. */
export const eventTypes = [
  'delivery',
  'open',
  'click',
  'hardBounce',
  'softBounce',
  'autoResponder',
  'complaint',
  'unsubscribe',
] as const;

export type EventType = (typeof eventTypes)[number];

/** The body of `POST /api/messages/{id}/events`. Recipient and link default to the message's first ones. */
export const EventSchema = v.object({
  type: v.picklist(eventTypes),
  recipient: v.optional(v.string()),
  link: v.optional(v.pipe(v.string(), v.regex(/^https?:\/\//i, 'must start with http:// or https://'))),
});

/** The body of `POST /api/messages/{id}/click`: a part of the link's address, or nothing for the first link. */
export const ClickSchema = v.object({ link: v.optional(v.string(), ''), recipient: v.optional(v.string()) });

/** The body of `POST /api/inbound`: a mail as if it had arrived at the inbound stream. */
export const InboundSchema = v.object({
  from: v.pipe(v.string(), v.trim(), v.nonEmpty('must not be empty')),
  to: v.pipe(v.string(), v.trim(), v.nonEmpty('must not be empty')),
  cc: v.optional(v.pipe(v.string(), v.trim()), ''),
  subject: v.optional(v.string(), ''),
  text: v.optional(v.string(), ''),
  html: v.optional(v.string(), ''),
  spam: v.optional(v.boolean(), false),
});

export type InboundMail = v.InferOutput<typeof InboundSchema>;

/** Says in one line where input is wrong, for example `times: must be at least 1`. */
export function issueText(issues: readonly v.BaseIssue<unknown>[]): string {
  return issues.map((issue) => `${v.getDotPath(issue) ?? 'body'}: ${issue.message}`).join('; ');
}
