import { idHeaders as earlierIdHeaders } from '@fernpost/earlier-name';
import PostalMime from 'postal-mime';
import * as v from 'valibot';
import { storableText } from '../../../lib/text.ts';
import type { MailEffect, MailVerdict, MailVerdicts, Notification, ReceivedMail } from '../mailer.ts';
import { sanitizeHtml, textAsHtml } from '../received-html.ts';

/** A text in what a provider posts; absent or of another type it reads as empty. */
export const text = v.fallback(v.string(), '');
const texts = v.fallback(v.array(v.string()), []);

// Escapes alone write these characters into JSON that is sound itself.
const unstorable = /\\u(?:0000|d[89a-f])/i;

/** Whether texts of this JSON may hold what Postgres cannot store, so that `storable` has to see each value: that takes six times as long as to parse it. */
export const mayBeUnstorable = (json: string) => unstorable.test(json) || !json.isWellFormed();

/** A value of parsed JSON without U+0000 and with a replacement character for half a surrogate pair. */
export const storable = (value: unknown) => (typeof value === 'string' ? storableText(value) : value);

const uuid = v.fallback(v.nullable(v.pipe(v.string(), v.uuid())), null);

/** An id of ours that travelled with a mail; null for what cannot be one. */
export const ourId = (value: string | undefined): string | null => v.parse(uuid, value ?? null);

const firstInstant = Date.parse('0001-01-01T00:00:00.000Z');
const lastInstant = Date.parse('9999-12-31T23:59:59.999Z');

/** The first of the dates that can be read and lies in the years 1 to 9999, which Postgres reads, as ISO; else that of `now`. */
export function firstReadable(now: Date, ...dates: readonly string[]): string {
  const readable = dates.map((date) => new Date(date)).find((date) => +date >= firstInstant && +date <= lastInstant);
  return (readable ?? now).toISOString();
}

const verdict = v.fallback(v.object({ status: text }), { status: '' });

// https://docs.aws.amazon.com/ses/latest/dg/receiving-email-notifications-contents.html
const Received = v.object({
  notificationType: v.literal('Received'),
  content: v.fallback(v.optional(v.string()), undefined),
  mail: v.object({
    timestamp: text,
    messageId: v.pipe(v.string(), v.nonEmpty()),
    source: text,
    destination: texts,
    commonHeaders: v.fallback(v.object({ from: texts, to: texts, cc: texts, subject: text }), {
      from: [],
      to: [],
      cc: [],
      subject: '',
    }),
  }),
  receipt: v.object({
    recipients: texts,
    processingTimeMillis: v.fallback(v.nullable(v.number()), null),
    spamVerdict: verdict,
    virusVerdict: verdict,
    spfVerdict: verdict,
    dkimVerdict: verdict,
    dmarcVerdict: verdict,
    action: v.fallback(v.object({ encoding: text }), { encoding: '' }),
  }),
});

/**
 * Reads what Amazon SES tells of a mail that it received (docs/contract/platform.md#8-4); null when the parsed message is
 * something else. The text comes along where the receipt rule's action is SNS; what cannot be parsed counts as absent.
 */
export async function readSesReceived(parsed: object, now: Date): Promise<ReceivedMail | null> {
  const read = v.safeParse(Received, parsed);
  if (!read.success) return null;
  const { mail, receipt, content } = read.output;
  const body = content === undefined ? null : await bodyOf(content, receipt.action.encoding);
  return {
    key: `inbound:${mail.messageId}`,
    provider: 'ses',
    messageId: mail.messageId,
    from: mail.source,
    fromHeader: mail.commonHeaders.from[0] ?? null,
    subject: mail.commonHeaders.subject || null,
    timestamp: firstReadable(now, mail.timestamp),
    received: receipt.recipients,
    recipients: receipt.recipients,
    hasContent: body !== null,
    body,
    verdicts: verdictsOf(receipt),
    processingTimeMillis: receipt.processingTimeMillis,
  };
}

async function bodyOf(content: string, encoding: string): Promise<string | null> {
  const bytes = Buffer.from(content, encoding.toUpperCase() === 'BASE64' ? 'base64' : 'utf8');
  const parsed = await PostalMime.parse(bytes).catch(() => null);
  const html = parsed?.html ? sanitizeHtml(parsed.html) : textAsHtml(parsed?.text ?? '');
  return html === '' ? null : html.replaceAll('\0', '');
}

const names = ['spamVerdict', 'virusVerdict', 'spfVerdict', 'dkimVerdict', 'dmarcVerdict'] as const;
const words = new Set<string>(['PASS', 'FAIL', 'GRAY', 'PROCESSING_FAILED'] satisfies MailVerdict[]);

function verdictsOf(receipt: v.InferOutput<typeof Received>['receipt']): MailVerdicts {
  const known = names.filter((name) => words.has(receipt[name].status));
  return Object.fromEntries(known.map((name) => [name, receipt[name].status]));
}

const object = <Entries extends v.ObjectEntries>(entries: Entries) => {
  const schema = v.object(entries);
  return v.fallback(v.optional(schema), undefined);
};

// https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html and, for notifications of an
// identity, .../notification-contents.html. What is absent or of another type reads as empty.
const Event = v.object({
  eventType: text,
  notificationType: text,
  mail: object({
    timestamp: text,
    messageId: text,
    destination: texts,
    tags: v.fallback(v.record(v.string(), texts), {}),
    headers: v.fallback(v.array(v.object({ name: text, value: text })), []),
  }),
  bounce: object({
    bounceType: text,
    bounceSubType: text,
    bouncedRecipients: v.fallback(v.array(v.object({ emailAddress: text, status: text, diagnosticCode: text })), []),
    timestamp: text,
  }),
  complaint: object({ timestamp: text }),
  delivery: object({ timestamp: text }),
  open: object({ timestamp: text }),
  click: object({ timestamp: text, link: text }),
  reject: object({ reason: text }),
  failure: object({ errorMessage: text, templateName: text }),
  subscription: object({
    timestamp: text,
    newTopicPreferences: object({
      unsubscribeAll: v.fallback(v.boolean(), false),
      topicSubscriptionStatus: v.fallback(v.array(v.object({ subscriptionStatus: text })), []),
    }),
  }),
});
type Event = v.InferOutput<typeof Event>;

/** An event of Amazon SES: a report about a mail, of no concern, or without the ID of a mail. */
type SesEvent = { kind: 'report'; notification: Notification } | { kind: 'ignored' } | { kind: 'unnamed' };

/** Names of the headers that carry our ids, for notifications that come without tags. */
export const idHeaders = { email: 'X-Fernpost-Email', project: 'X-Fernpost-Project' } as const;

/**
 * Reads an event or notification of Amazon SES (docs/contract/platform.md#8-2). `key` is the id of the SNS message it came in.
 */
export function readSesEvent(parsed: object, key: string, now: Date): SesEvent {
  const event = v.parse(Event, parsed);
  const { mail } = event;
  if (mail === undefined || mail.messageId === '') return { kind: 'unnamed' };
  const read = readEffect(event);
  if (read === null) return { kind: 'ignored' };
  const header = (name: string) => mail.headers.find((one) => one.name.toLowerCase() === name.toLowerCase())?.value;
  const eid = mail.tags.eid?.[0] ?? header(idHeaders.email) ?? header(earlierIdHeaders.email);
  const pid = mail.tags.pid?.[0] ?? header(idHeaders.project) ?? header(earlierIdHeaders.project);
  return {
    kind: 'report',
    notification: {
      key,
      emailId: ourId(eid),
      projectId: ourId(pid),
      messageId: mail.messageId,
      recipient: (event.bounce?.bouncedRecipients[0]?.emailAddress || mail.destination[0] || '').trim().toLowerCase(),
      at: firstReadable(now, read.at, mail.timestamp),
      effect: read.effect,
    },
  };
}

function readEffect(event: Event): { at: string; effect: MailEffect } | null {
  const { mail, bounce, click, subscription } = event;
  switch (event.eventType || event.notificationType) {
    case 'Send':
      return { at: mail?.timestamp ?? '', effect: { kind: 'sent' } };
    case 'Delivery':
      return { at: event.delivery?.timestamp ?? '', effect: { kind: 'delivery' } };
    case 'Open':
      return { at: event.open?.timestamp ?? '', effect: { kind: 'open' } };
    case 'Click':
      return { at: click?.timestamp ?? '', effect: { kind: 'click', link: click?.link ?? '' } };
    case 'Bounce':
      return { at: bounce?.timestamp ?? '', effect: bounceOf(bounce) };
    case 'Complaint':
      return { at: event.complaint?.timestamp ?? '', effect: { kind: 'complaint' } };
    case 'Reject': {
      const error = `Amazon SES rejected the message: ${event.reject?.reason || 'no reason given'}`;
      return { at: '', effect: { kind: 'failure', error } };
    }
    case 'Rendering Failure': {
      const error = `Amazon SES could not render the message: ${event.failure?.errorMessage || 'no reason given'}`;
      return { at: '', effect: { kind: 'failure', error } };
    }
    case 'Subscription': {
      const wishes = subscription?.newTopicPreferences;
      const leaves =
        wishes?.unsubscribeAll ||
        wishes?.topicSubscriptionStatus.some(({ subscriptionStatus }) => subscriptionStatus === 'OptOut');
      // Nobody is subscribed again by a provider.
      return leaves ? { at: subscription?.timestamp ?? '', effect: { kind: 'optOut', own: true } } : null;
    }
    default:
      // DeliveryDelay says that SES goes on trying, which changes nothing.
      return null;
  }
}

function bounceOf(bounce: Event['bounce']): MailEffect {
  const { bounceType = '', bounceSubType = '', bouncedRecipients = [] } = bounce ?? {};
  const [recipient] = bouncedRecipients;
  const error = recipient?.diagnosticCode || [bounceSubType, recipient?.status].filter(Boolean).join(' ') || null;
  if (bounceType === 'Permanent' || bounceType === 'Undetermined') return { kind: 'bounce', bounceType, error };
  return { kind: 'bounce', bounceType: 'Transient', error };
}
