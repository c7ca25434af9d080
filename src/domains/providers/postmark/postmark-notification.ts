import { createHash } from 'node:crypto';
import * as v from 'valibot';
import {
  type MailEffect,
  type MailVerdicts,
  type Notification,
  parseMailVerdict,
  type ReceivedMail,
} from '../mailer.ts';
import { sanitizeHtml, textAsHtml } from '../received-html.ts';
import { firstReadable, mayBeUnstorable, ourId, storable, text } from '../ses/ses-notification.ts';

const Mailbox = v.object({ Email: text, Name: text });
const mailboxes = v.fallback(v.array(Mailbox), []);

// Fields of https://postmarkapp.com/developer/webhooks/inbound-webhook. What is absent or of another type reads as empty.
const ReceivedPayload = v.object({
  MessageID: text,
  FromFull: Mailbox,
  ToFull: mailboxes,
  CcFull: mailboxes,
  BccFull: mailboxes,
  OriginalRecipient: text,
  Subject: text,
  Date: text,
  HtmlBody: text,
  TextBody: text,
  Headers: v.fallback(v.array(v.object({ Name: text, Value: text })), []),
});
type ReceivedPayload = v.InferOutput<typeof ReceivedPayload>;

/** Reads Postmark's inbound webhook; null when the parsed body is something else. `now` stands in for an unreadable date. */
export function readPostmarkReceived(parsed: object, now: Date): ReceivedMail | null {
  if (!('FromFull' in parsed)) return null;
  const read = v.safeParse(ReceivedPayload, parsed);
  if (!read.success || read.output.MessageID === '') return null;
  const payload = read.output;
  const named = [...payload.ToFull, ...payload.CcFull, ...payload.BccFull].map(({ Email }) => Email);
  const { FromFull, OriginalRecipient, HtmlBody, TextBody } = payload;
  const content = HtmlBody === '' ? textAsHtml(TextBody) : sanitizeHtml(HtmlBody);
  return {
    key: `inbound:${payload.MessageID}`,
    provider: 'postmark',
    messageId: payload.MessageID,
    from: FromFull.Email,
    fromHeader: FromFull.Name === '' ? FromFull.Email : `${FromFull.Name} <${FromFull.Email}>`,
    subject: payload.Subject === '' ? null : payload.Subject,
    timestamp: firstReadable(now, payload.Date),
    received: OriginalRecipient === '' ? named : [OriginalRecipient],
    recipients: named,
    hasContent: content !== '',
    body: content === '' ? null : content,
    verdicts: verdictsOf(payload.Headers),
    processingTimeMillis: null,
  };
}

function verdictsOf(headers: ReceivedPayload['Headers']): MailVerdicts {
  // The topmost of several is the one that the last server, Postmark's, has written; the others are the sender's word.
  const first = (name: string) => headers.find(({ Name }) => Name.toLowerCase() === name)?.Value.trim() ?? '';
  const verdicts: MailVerdicts = {};
  const spam = first('x-spam-status');
  if (/^no\b/i.test(spam)) verdicts.spamVerdict = 'PASS';
  else if (/^yes\b/i.test(spam)) verdicts.spamVerdict = 'FAIL';
  const spf = /^[a-z]+/i.exec(first('received-spf'))?.[0];
  const results = first('authentication-results');
  const result = (method: string) => new RegExp(`(?:^|[;\\s])${method}\\s*=\\s*([a-z]+)`, 'i').exec(results)?.[1];
  const found = { spfVerdict: spf ?? result('spf'), dkimVerdict: result('dkim'), dmarcVerdict: result('dmarc') };
  for (const [name, word] of Object.entries(found)) {
    if (word !== undefined) verdicts[name as keyof typeof found] = parseMailVerdict(word);
  }
  return verdicts;
}

const flag = v.fallback(v.boolean(), false);

// Fields of https://postmarkapp.com/developer/webhooks. What is absent or of another type reads as empty.
const Payload = v.object({
  RecordType: text,
  ID: text,
  Type: text,
  MessageID: text,
  MessageStream: text,
  Recipient: text,
  Email: text,
  DeliveredAt: text,
  BouncedAt: text,
  ReceivedAt: text,
  ChangedAt: text,
  Description: text,
  Details: text,
  Inactive: flag,
  OriginalLink: text,
  Origin: text,
  SuppressSending: flag,
  SuppressionReason: text,
  Metadata: v.fallback(v.object({ eid: text, pid: text }), { eid: '', pid: '' }),
});
type Payload = v.InferOutput<typeof Payload>;

/**
 * Parses the body of a webhook.
 * @throws SyntaxError when it is no JSON object
 */
export function parsePostmark(body: string): object {
  const parsed: unknown = mayBeUnstorable(body) || body.includes('"ID"') ? JSON.parse(body, revived) : JSON.parse(body);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new SyntaxError('Not a JSON object');
  return parsed;
}

/** Reads a parsed webhook (docs/contract/platform.md#8-3); null when it reports nothing that concerns a mail's recipient. */
export function readPostmarkRecord(parsed: object): Notification | null {
  const payload = v.parse(Payload, parsed);
  const read = readRecord(payload);
  if (read === null) return null;
  const { eid, pid } = payload.Metadata;
  return {
    key: read.key,
    emailId: ourId(eid),
    projectId: ourId(pid),
    messageId: payload.MessageID || null,
    recipient: (payload.Recipient || payload.Email).trim().toLowerCase(),
    at: firstReadable(new Date(), read.at),
    effect: read.effect,
  };
}

// Bounce ids are larger than a JavaScript number can hold, so that they are kept as they are written.
function revived(this: unknown, key: string, value: unknown, context?: { source?: string }): unknown {
  return key === 'ID' && typeof value === 'number' ? (context?.source ?? String(value)) : storable(value);
}

interface ReadRecord {
  key: string;
  at: string;
  effect: MailEffect;
}

function readRecord(payload: Payload): ReadRecord | null {
  const { MessageID, Recipient, DeliveredAt, ReceivedAt, BouncedAt, OriginalLink } = payload;
  switch (payload.RecordType) {
    case 'Delivery':
      return { key: `delivery:${MessageID}:${Recipient}`, at: DeliveredAt, effect: { kind: 'delivery' } };
    case 'Open':
      return { key: `open:${MessageID}:${ReceivedAt}`, at: ReceivedAt, effect: { kind: 'open' } };
    case 'Click': {
      const link = createHash('sha256').update(OriginalLink).digest('base64url').slice(0, 22);
      const effect = { kind: 'click', link: OriginalLink } as const;
      return { key: `click:${MessageID}:${ReceivedAt}:${link}`, at: ReceivedAt, effect };
    }
    case 'SpamComplaint':
      return { key: `complaint:${reportId(payload)}`, at: BouncedAt, effect: { kind: 'complaint' } };
    case 'Bounce':
      return readBounce(payload);
    case 'SubscriptionChange':
      return readSubscriptionChange(payload);
    default:
      return null;
  }
}

function readBounce(payload: Payload): ReadRecord | null {
  const { Type, BouncedAt: at, Inactive } = payload;
  const id = reportId(payload);
  if (Type === 'Subscribe') return null;
  // A complaint may be reported as a bounce; under the same key it counts once.
  if (Type === 'SpamComplaint') return { key: `complaint:${id}`, at, effect: { kind: 'complaint' } };
  const key = `bounce:${id}`;
  if (Type === 'Unsubscribe') return { key, at, effect: { kind: 'optOut', own: true } };
  const permanent = Inactive || Type === 'HardBounce' || Type === 'BadEmailAddress';
  const bounceType = permanent ? 'Permanent' : Type === 'Unknown' ? 'Undetermined' : 'Transient';
  const error = [payload.Description, payload.Details].filter((part) => part !== '').join(' — ') || null;
  return { key, at, effect: { kind: 'bounce', bounceType, error } };
}

function readSubscriptionChange(payload: Payload): ReadRecord | null {
  const { MessageStream, Recipient, ChangedAt, SuppressSending, SuppressionReason, Origin, MessageID } = payload;
  // Nobody is subscribed again by a provider, and a suppression by hand at the provider is the operator's own affair.
  if (!SuppressSending || (MessageID === '' && payload.Metadata.eid === '')) return null;
  const record = { key: `subs:${MessageStream}:${Recipient}:${ChangedAt}`, at: ChangedAt };
  if (SuppressionReason === 'HardBounce')
    return { ...record, effect: { kind: 'optOut', own: false, reason: 'bounce' } };
  if (SuppressionReason === 'SpamComplaint')
    return { ...record, effect: { kind: 'optOut', own: false, reason: 'complaint' } };
  return Origin === 'Recipient' ? { ...record, effect: { kind: 'optOut', own: true } } : null;
}

function reportId({ ID, MessageID, BouncedAt, Type }: Payload): string {
  return ID === '' || ID === '0' ? `${MessageID}:${BouncedAt}:${Type}` : ID;
}
