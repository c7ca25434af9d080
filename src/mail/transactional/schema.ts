import { renderLimits } from '@fernpost/renderer';
import * as v from 'valibot';
import { EmailField, SenderField } from '../../lib/validation/email-address.ts';
import {
  coded,
  codedAt,
  describedBy,
  field,
  Integer,
  JsonObject,
  nameSchemas,
  singleLine,
  textField,
} from '../../lib/validation/fields.ts';
import { HoldFor, ScheduledFor } from '../emails/schedule.ts';
import { noForeignKeys } from './foreign-keys.ts';

const DisplayName = v.pipe(v.string(), singleLine('name'));
const Address = v.object({
  name: field(
    'Display name, without line breaks. For a recipient it is also stored as `data.name` of the contact.',
    v.nullish(DisplayName),
  ),
  email: field('Email address.', EmailField),
});
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

/** A file to attach (docs/contract/core.md#2-6). Count and total size are limits of the deployment, checked later. */
const Attachment = v.pipe(
  v.object({
    filename: field(
      'File name, 1 to 255 characters, without line breaks and quotes.',
      v.pipe(
        textField('filename', 1, 255),
        coded('invalid_string', (name: string) => !/[\r\n"]/.test(name), 'must not contain line breaks or quotes'),
      ),
    ),
    content: field(
      'Content of the file in base64.',
      v.pipe(v.string(), coded('invalid_string', isBase64, 'must be base64')),
    ),
    contentType: field(
      'Media type, such as `application/pdf`.',
      v.pipe(textField('contentType', 1, 255), singleLine('contentType')),
    ),
    disposition: field(
      '`attachment`, or `inline` for an image that the HTML shows by its `contentId`.',
      v.optional(v.picklist(['attachment', 'inline'], 'must be attachment or inline'), 'attachment'),
    ),
    contentId: field(
      'ID by which the HTML refers to an inline file, as `cid:<contentId>`. Required for `inline`.',
      v.optional(
        v.pipe(
          textField('contentId', 1, 255),
          coded('invalid_string', (id: string) => !/[<>\r\n]/.test(id), 'must not contain <, > or line breaks'),
        ),
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

const Tags = v.pipe(
  JsonObject,
  v.record(
    v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,64}$/, 'a name must be 1 to 64 letters, digits, "_" or "-"')),
    textField('a value', 1, 256),
  ),
  coded('too_big', (tags) => Object.keys(tags).length <= 10, 'must have at most 10 tags'),
);

/** `POST /v1/send` (docs/contract/core.md#2-3). */
export const SendBody = v.pipe(
  v.looseObject({
    to: field(
      'Recipient, or up to 1,000 of them. Each receives an email of their own and does not see the others.',
      v.union([
        EmailField,
        Address,
        v.pipe(v.array(Recipient), v.maxLength(mostRecipients, `must have at most ${mostRecipients} recipients`)),
      ]),
    ),
    subject: field(
      'Subject line, with Liquid variables; 1 to 998 characters on one line. Overrides the template’s subject; required without `template`.',
      v.optional(v.pipe(textField('subject', 1, 998), singleLine('subject'))),
    ),
    body: field(
      'HTML body, with Liquid variables. Overrides the template’s body. Without `template`, `body`, `text` or both are required.',
      v.optional(Content),
    ),
    text: field('Plain-text part, with Liquid variables; derived from the HTML when absent.', v.nullish(Content)),
    template: field(
      'ID of the template to send. `subject`, `body`, `from` and `reply` override its fields.',
      v.optional(v.pipe(v.string(), v.uuid('must be the id of a template'))),
    ),
    from: field(
      'Sender as an email address, or with a display name. Its domain must be verified for the project. The template’s sender when absent.',
      v.optional(v.union([SenderField, Address])),
    ),
    fromName: field(
      'Display name of the sender, when `from` has none. Deprecated: use `from`.',
      v.optional(DisplayName),
    ),
    name: field(
      'Another name for `fromName`, which takes precedence. Deprecated: use `from`.',
      v.optional(DisplayName),
    ),
    reply: field('Reply-To address; the template’s when absent.', v.optional(EmailField)),
    replyTo: field('Another name for `reply`, which takes precedence.', v.optional(EmailField)),
    subscribed: field(
      'Sets whether the recipients are subscribed to marketing emails. Absent leaves contacts as they are; new contacts are created unsubscribed.',
      v.optional(v.boolean()),
    ),
    data: field(
      'Values for the variables, stored on the contact too. `null` deletes a key; `{ "value": …, "persistent": false }` uses a value for this email only.',
      v.nullish(JsonObject),
    ),
    headers: field('Custom email headers, as names with values; up to 100, and 32 kB in total.', v.optional(Headers)),
    attachments: field('Files to attach. By default up to 10, with 10 MB in total.', v.optional(v.array(Attachment))),
    tracking: field(
      'Whether opens and clicks are tracked; the project’s setting when absent.',
      v.optional(v.boolean()),
    ),
    tags: field(
      'Up to 10 tags, as names with values, to find the email by. Webhook events of the email carry them. A name is 1 to 64 letters, digits, `_` or `-`; a value has 1 to 256 characters.',
      v.nullish(Tags),
    ),
    scheduledFor: field(
      'When to send the email, as an ISO 8601 instant with an offset; at most 30 days ahead. A time in the past sends immediately. It cannot be combined with `hold`.',
      v.nullish(ScheduledFor),
    ),
    hold: field(
      'How long to hold the email so that it can be canceled, `15m` to `24h`. It cannot be combined with `scheduledFor`.',
      v.nullish(HoldFor),
    ),
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
// Named here, because items of a batch are described by it.
nameSchemas({ SendEmailRequest: SendBody });

/** The answer of `POST /v1/send`: one item for each recipient, in the order of `to`. */
export const SendReply = v.object({
  success: field('Always `true`. A failed request returns an `Error` instead.', v.literal(true)),
  data: field(
    'Emails that were accepted.',
    v.object({
      emails: field(
        'One item for each recipient, in the order of `to`.',
        v.array(
          v.object({
            contact: field(
              'The recipient, as a contact of the project.',
              v.object({
                id: field('ID of the contact.', v.string()),
                email: field('Address of the contact.', v.string()),
              }),
            ),
            email: field('ID of the email, for `GET /v1/emails/{id}`.', v.string()),
            scheduledFor: field(
              'When the email is sent; null for immediately. Only with `scheduledFor` or `hold` in the request.',
              v.optional(v.nullable(v.string())),
            ),
            heldUntil: field(
              'When the held email is sent unless it is canceled before; null if it is not held. Only with `scheduledFor` or `hold` in the request.',
              v.optional(v.nullable(v.string())),
            ),
          }),
        ),
      ),
      timestamp: field('When the request was accepted.', v.string()),
    }),
  ),
});

/** A recipient of an accepted request. */
export type SentItem = v.InferOutput<typeof SendReply>['data']['emails'][number];

/** Most mails of one batch. */
export const mostInBatch = 100;

/** `POST /v1/emails/batch`: each item is checked by itself, as a body of `POST /v1/send`. */
export const BatchBody = v.object({
  emails: field(
    'Emails to send, 1 to 100, each as in `POST /v1/send`; up to 1,000 recipients in total.',
    v.pipe(
      v.array(describedBy(v.unknown(), SendBody)),
      v.minLength(1, 'must not be empty'),
      v.maxLength(mostInBatch, `must have at most ${mostInBatch} items`),
    ),
  ),
  mode: field(
    '`all`: nothing is sent unless every item can be. `each`: every item is accepted or refused by itself.',
    v.optional(v.picklist(['all', 'each'], 'must be all or each'), 'all'),
  ),
});
export type BatchBody = v.InferOutput<typeof BatchBody>;

const SentItems = SendReply.entries.data.entries.emails;

/** The answer of `POST /v1/emails/batch`: one result for each item, in their order. */
export const BatchReply = v.object({
  success: field(
    'Always `true`, also when items were refused in the mode `each`. A failed request returns an `Error` instead.',
    v.literal(true),
  ),
  data: field(
    'Results of the batch.',
    v.object({
      results: field(
        'One result for each item, in the order of the request.',
        v.array(
          v.variant('ok', [
            v.object({
              ok: field('`true`: the item was accepted.', v.literal(true)),
              emails: field('One item for each recipient, in the order of `to`.', SentItems),
            }),
            v.object({
              ok: field('`false`: the item was refused.', v.literal(false)),
              error: field(
                'Why the item was refused, as `POST /v1/send` would return it.',
                v.object({
                  code: field('Error code, such as `VALIDATION_ERROR`.', v.string()),
                  message: field('What is wrong, as a sentence.', v.string()),
                  statusCode: field('HTTP status that `POST /v1/send` would have returned.', Integer),
                  details: field(
                    'Further facts about the error; absent if there are none.',
                    v.optional(v.record(v.string(), v.unknown())),
                  ),
                  errors: field(
                    'Problems by field; absent if the error is about no field.',
                    v.optional(
                      v.array(
                        v.object({
                          field: field('Path of the field, such as `attachments.0.content`.', v.string()),
                          message: field('What is wrong with the field.', v.string()),
                          code: field('Code of the problem, such as `invalid_string`.', v.string()),
                          received: field(
                            'Type of the value that was received; absent if it does not matter.',
                            v.optional(v.string()),
                          ),
                        }),
                      ),
                    ),
                  ),
                  suggestion: field(
                    'How to fix the request; absent if there is nothing to suggest.',
                    v.optional(v.string()),
                  ),
                }),
              ),
            }),
          ]),
        ),
      ),
      timestamp: field('When the batch was processed.', v.string()),
    }),
  ),
});
export type BatchResult = v.InferOutput<typeof BatchReply>['data']['results'][number];

function isBase64(text: string): boolean {
  const compact = /\s/.test(text) ? text.replaceAll(/\s+/g, '') : text;
  return compact.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(compact);
}
