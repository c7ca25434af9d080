import { describedBy } from '@fernpost/openapi/names';
import { renderLimits } from '@fernpost/renderer';
import { coded, codedAt, EmailField, JsonObject, SenderField, singleLine, textField } from '@fernpost/validation';
import * as v from 'valibot';
import { HoldFor, ScheduledFor } from '../emails/index.ts';

const DisplayName = v.pipe(v.string(), singleLine('name'));
const Address = v.object({ name: v.nullish(DisplayName), email: EmailField });
const Recipient = v.union([EmailField, Address]);

const HeaderName = v.pipe(
  v.string(),
  coded(
    'invalid_string',
    (name) => /^[\x21-\x39\x3b-\x7e]+$/.test(name),
    'a header name must be printable ASCII without blanks and colons',
  ),
);
const HeaderValue = v.pipe(
  v.string(),
  v.maxLength(998, 'must have at most 998 characters'),
  singleLine('a header value'),
);

const mostHeaders = 100;
const headersKb = 32;
const headerBytes = (headers: Readonly<Record<string, string>>) =>
  Object.entries(headers).reduce((sum, [name, value]) => sum + Buffer.byteLength(`${name}: ${value}\r\n`), 0);

// Receivers refuse messages with much larger headers, after the provider has taken them.
const Headers = v.pipe(
  v.record(HeaderName, HeaderValue),
  coded('too_big', (headers) => Object.keys(headers).length <= mostHeaders, `must have at most ${mostHeaders} headers`),
  coded('too_big', (headers) => headerBytes(headers) <= headersKb * 1024, `must have at most ${headersKb} kB together`),
);

/** A file to attach (contract page 1, 2.6). Count and total size are limits of the deployment, checked later. */
const Attachment = v.pipe(
  v.object({
    filename: v.pipe(
      textField('filename', 1, 255),
      coded('invalid_string', (name: string) => !/[\r\n"]/.test(name), 'must not contain line breaks or quotes'),
    ),
    content: v.pipe(v.string(), coded('invalid_string', isBase64, 'must be base64')),
    contentType: v.pipe(textField('contentType', 1, 255), singleLine('contentType')),
    disposition: v.optional(v.picklist(['attachment', 'inline'], 'must be attachment or inline'), 'attachment'),
    contentId: v.optional(
      v.pipe(
        textField('contentId', 1, 255),
        coded('invalid_string', (id: string) => !/[<>\r\n]/.test(id), 'must not contain <, > or line breaks'),
      ),
    ),
  }),
  codedAt(
    'custom',
    'contentId',
    (file) => file.disposition !== 'inline' || file.contentId !== undefined,
    'is required for an inline attachment',
  ),
);

// What is longer could be accepted and never be filled in.
const Content = v.pipe(
  v.string(),
  v.minLength(1, 'must not be empty'),
  v.maxLength(
    renderLimits.characters,
    `must have at most ${renderLimits.characters.toLocaleString('en-US')} characters`,
  ),
);

/** Most recipients of one request. */
export const mostRecipients = 1_000;

// Names under which other services take what is named differently here, or is not done at all. To drop them silently would
// send a mail without its copies or at once.
const noCopies = 'is not supported: every recipient in "to" gets a message of their own';
const called = (ours: string, ...theirs: string[]) => theirs.map((name) => [name, `is called "${ours}" here`] as const);
const foreignKeys: Readonly<Record<string, string>> = Object.fromEntries([
  ...['cc', 'bcc', 'Cc', 'Bcc', 'CC', 'BCC'].map((name) => [name, noCopies] as const),
  ...called('to', 'To', 'recipients', 'personalizations', 'destination', 'Destination'),
  ...called('from', 'From', 'sender', 'from_email', 'fromEmail'),
  ...called('fromName', 'from_name'),
  ...called('reply', 'reply_to', 'ReplyTo', 'replyto', 'reply_to_list', 'h:Reply-To'),
  ...called('subject', 'Subject'),
  ...called('body', 'html', 'Html', 'HtmlBody', 'htmlBody', 'html_body', 'htmlContent', 'html_content', 'react'),
  ...called('text', 'TextBody', 'textBody', 'text_body', 'textContent', 'text_content', 'plainText', 'plain_text'),
  ...called('template', 'templateId', 'template_id', 'TemplateId', 'TemplateAlias', 'template_name', 'templateName'),
  ...called(
    'data',
    'templateData',
    'template_data',
    'TemplateModel',
    'dynamic_template_data',
    'variables',
    'substitutions',
  ),
  ...called('data', 'merge_vars', 'mergeVars', 'global_merge_vars', 'h:X-Mailgun-Variables', 'params', 'props'),
  ...called('headers', 'Headers'),
  ...called('attachments', 'attachment', 'Attachments', 'files'),
  ...called(
    'scheduledFor',
    'scheduledAt',
    'scheduled_at',
    'scheduled_for',
    'sendAt',
    'send_at',
    'deliverAt',
    'deliver_at',
    'o:deliverytime',
  ),
  ...called(
    'tracking',
    'TrackOpens',
    'TrackLinks',
    'trackOpens',
    'trackLinks',
    'track_opens',
    'track_clicks',
    'o:tracking',
  ),
  ['type', 'is not supported: write the message as HTML in "body", or as plain text in "text"'],
]);

function noForeignKeys<Body extends Record<string, unknown>>() {
  return v.rawCheck<Body>(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    for (const [key, message] of Object.entries(foreignKeys)) {
      const value = dataset.value[key];
      if (value === undefined || value === null || (key === 'type' && value !== 'markdown')) continue;
      addIssue({ message, path: [{ type: 'object', origin: 'value', input: dataset.value, key, value }] });
    }
  });
}

const Tags = v.pipe(
  JsonObject,
  v.record(
    v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,64}$/, 'a name must be 1 to 64 letters, digits, "_" or "-"')),
    textField('a value', 1, 256),
  ),
  coded('too_big', (tags) => Object.keys(tags).length <= 10, 'must have at most 10 tags'),
  v.description('Up to 10 names with values, by which the mail is found again; events of the mail carry them.'),
);

/** `POST /v1/send` (contract page 1, 2.3). */
export const SendBody = v.pipe(
  v.looseObject({
    to: v.union([
      EmailField,
      Address,
      v.pipe(v.array(Recipient), v.maxLength(mostRecipients, `must have at most ${mostRecipients} recipients`)),
    ]),
    subject: v.optional(v.pipe(textField('subject', 1, 998), singleLine('subject'))),
    body: v.optional(Content),
    text: v.pipe(v.nullish(Content), v.description('The text part, with Liquid; derived from the HTML when absent.')),
    template: v.optional(v.pipe(v.string(), v.uuid('must be the id of a template'))),
    from: v.optional(v.union([SenderField, Address])),
    fromName: v.optional(DisplayName),
    name: v.optional(DisplayName),
    reply: v.optional(EmailField),
    /** What other services, and templates here, call `reply`; `reply` wins when both are given. */
    replyTo: v.optional(EmailField),
    subscribed: v.optional(v.boolean()),
    data: v.nullish(JsonObject),
    headers: v.optional(Headers),
    attachments: v.optional(v.array(Attachment)),
    tracking: v.optional(v.boolean()),
    tags: v.nullish(Tags),
    scheduledFor: v.nullish(ScheduledFor),
    hold: v.nullish(HoldFor),
  }),
  noForeignKeys(),
  codedAt(
    'custom',
    'template',
    (body) =>
      body.template !== undefined || (body.subject !== undefined && (body.body !== undefined || Boolean(body.text))),
    'send either "template", or "subject" with "body", "text" or both',
  ),
  codedAt(
    'custom',
    'hold',
    (body) => body.hold == null || body.scheduledFor == null,
    'cannot be combined with "scheduledFor"',
  ),
);
export type SendBody = v.InferOutput<typeof SendBody>;

/** The answer of `POST /v1/send`: one item for each recipient, in the order of `to`. */
export const SendReply = v.object({
  success: v.literal(true),
  data: v.object({
    emails: v.array(
      v.object({
        contact: v.object({ id: v.string(), email: v.string() }),
        email: v.string(),
        scheduledFor: v.pipe(
          v.optional(v.nullable(v.string())),
          v.description('With `scheduledFor` or `hold` only: when it is sent; null for now.'),
        ),
        heldUntil: v.pipe(
          v.optional(v.nullable(v.string())),
          v.description('With `scheduledFor` or `hold` only: when it is sent unless it is cancelled before.'),
        ),
      }),
    ),
    timestamp: v.string(),
  }),
});

/** A recipient of an accepted request. */
export type SentItem = v.InferOutput<typeof SendReply>['data']['emails'][number];

/** Most mails of one batch. */
export const mostInBatch = 100;

/** `POST /v1/emails/batch`: each item is checked by itself, as a body of `POST /v1/send`. */
export const BatchBody = v.object({
  emails: v.pipe(
    v.array(describedBy(v.unknown(), SendBody)),
    v.minLength(1, 'must not be empty'),
    v.maxLength(mostInBatch, `must have at most ${mostInBatch} items`),
  ),
  mode: v.pipe(
    v.optional(v.picklist(['all', 'each'], 'must be all or each'), 'all'),
    v.description(
      '`all`: nothing is sent unless every item can be. `each`: every item is accepted or refused by itself.',
    ),
  ),
});
export type BatchBody = v.InferOutput<typeof BatchBody>;

const SentItems = SendReply.entries.data.entries.emails;

/** The answer of `POST /v1/emails/batch`: one result for each item, in their order. */
export const BatchReply = v.object({
  success: v.literal(true),
  data: v.object({
    results: v.array(
      v.variant('ok', [
        v.object({ ok: v.literal(true), emails: SentItems }),
        v.object({
          ok: v.literal(false),
          error: v.object({
            code: v.string(),
            message: v.string(),
            statusCode: v.pipe(v.number(), v.description('What `POST /v1/send` would have answered.')),
            details: v.optional(v.record(v.string(), v.unknown())),
            errors: v.optional(
              v.array(
                v.object({
                  field: v.string(),
                  message: v.string(),
                  code: v.string(),
                  received: v.optional(v.string()),
                }),
              ),
            ),
            suggestion: v.optional(v.string()),
          }),
        }),
      ]),
    ),
    timestamp: v.string(),
  }),
});
export type BatchResult = v.InferOutput<typeof BatchReply>['data']['results'][number];

function isBase64(text: string): boolean {
  const compact = /\s/.test(text) ? text.replaceAll(/\s+/g, '') : text;
  return compact.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(compact);
}
