import { type Mailbox, parseAddresses } from '../message/addresses.ts';
import type { EventType, SubmittedMessage } from '../schema.ts';
import type { LogPlace } from './log.ts';

/** One thing that happened to a message. `at` is in milliseconds since 1970 and unique within the message. */
export interface MailEvent {
  type: EventType;
  recipient: string;
  at: number;
  /** Bounces and complaints: Postmark's id, as text because it is larger than a JavaScript number can hold. */
  id?: string;
  /** Clicks: where to. */
  link?: string;
  /** How the webhook fared, in this run of the process; absent when none is configured. */
  webhook?: { state: 'waiting' | 'delivered' | 'failed'; attempts: number; answer: string };
}

/** What is kept in memory of a stored message; its bodies and attachments stay in the log. */
export interface Entry {
  seq: number;
  id: string;
  /** Milliseconds since 1970. */
  at: number;
  from: string;
  fromEmail: string;
  to: Mailbox[];
  cc: Mailbox[];
  bcc: Mailbox[];
  /** Every address once, in lower case. */
  recipients: string[];
  subject: string;
  tag: string;
  stream: string;
  metadata: Record<string, string>;
  attachments: string[];
  trackOpens: boolean;
  trackLinks: string;
  /** Whether it was opened in the inbox. */
  read: boolean;
  events: MailEvent[];
  place: LogPlace;
}

const nothing: never[] = [];

/** Derives the in-memory part of a message that was checked before. */
export function entryOf(seq: number, id: string, at: number, message: SubmittedMessage, place: LogPlace): Entry {
  const from = message.From ?? '';
  const to = mailboxesOf(message.To);
  const cc = mailboxesOf(message.Cc);
  const bcc = mailboxesOf(message.Bcc);
  return {
    seq,
    id,
    at,
    from,
    fromEmail: mailboxesOf(from)[0]?.email.toLowerCase() ?? '',
    to,
    cc,
    bcc,
    recipients: [...new Set([...to, ...cc, ...bcc].map((mailbox) => mailbox.email.toLowerCase()))],
    subject: message.Subject ?? '',
    tag: message.Tag ?? '',
    stream: message.MessageStream || 'outbound',
    metadata: message.Metadata ?? {},
    attachments: message.Attachments?.length ? message.Attachments.map((attachment) => attachment.Name) : nothing,
    trackOpens: message.TrackOpens ?? false,
    trackLinks: message.TrackLinks ?? 'None',
    read: false,
    events: [],
    place,
  };
}

function mailboxesOf(value: string | null | undefined): Mailbox[] {
  if (!value) return nothing;
  const parsed = parseAddresses(value);
  return parsed.ok ? parsed.mailboxes : nothing;
}

const statusNames: Record<EventType, string> = {
  delivery: 'Delivered',
  open: 'Opened',
  click: 'Clicked',
  hardBounce: 'Bounced',
  softBounce: 'Soft bounce',
  autoResponder: 'Auto-reply',
  complaint: 'Complaint',
  unsubscribe: 'Unsubscribed',
};

/** The name of an event on pages. */
export function eventName(type: EventType): string {
  return statusNames[type];
}

/** One word for where a message stands: its latest event, or `Accepted`. */
export function statusOf(entry: Entry): string {
  const last = entry.events.at(-1);
  return last ? statusNames[last.type] : 'Accepted';
}
