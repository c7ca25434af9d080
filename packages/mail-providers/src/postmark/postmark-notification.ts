import { createHash } from 'node:crypto';
import * as v from 'valibot';
import type { MailEffect, Notification } from '../notification.ts';
import { firstReadable, ourId, text } from '../reading.ts';

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
  const parsed: unknown = JSON.parse(body, storable);
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

// Bounce ids are larger than a JavaScript number can hold, so that they are kept as they are written. U+0000 and half
// surrogate pairs are what Postgres cannot store.
function storable(this: unknown, key: string, value: unknown, context?: { source?: string }): unknown {
  if (key === 'ID' && typeof value === 'number') return context?.source ?? String(value);
  return typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : value;
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
