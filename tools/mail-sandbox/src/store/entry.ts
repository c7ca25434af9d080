import { type Mailbox, parseAddresses } from '../message/addresses.ts';
import type { EventType, SubmittedMessage } from '../schema.ts';
import type { LogPlace } from './log.ts';

type Posting = number | { seqs: number[]; head: number };

/**
 * Finds messages by an exact value of a named field, for example by one key of their metadata: an index from (name, value) to
 * sequence numbers. Adding and removing take constant time, because messages come and go in order: a list only grows at its end
 * and shrinks at its start. A value that occurs once costs no list.
 */
export class Postings {
  private readonly names = new Map<string, Map<string, Posting>>();

  add(name: string, value: string, seq: number): void {
    const values = this.names.get(name) ?? new Map<string, Posting>();
    if (values.size === 0) this.names.set(name, values);
    const posting = values.get(value);
    if (posting === undefined) values.set(value, seq);
    else if (typeof posting === 'object') {
      if (posting.seqs.at(-1) !== seq) posting.seqs.push(seq);
    } else if (posting !== seq) values.set(value, { seqs: [posting, seq], head: 0 });
  }

  /** Messages must be removed oldest first. */
  remove(name: string, value: string, seq: number): void {
    const values = this.names.get(name);
    const posting = values?.get(value);
    if (!values || posting === undefined) return;
    if (typeof posting === 'object') {
      if (posting.seqs[posting.head] !== seq) return;
      posting.head += 1;
      if (posting.head === posting.seqs.length) values.delete(value);
      else if (posting.head > 1024 && posting.head * 2 > posting.seqs.length) {
        posting.seqs.splice(0, posting.head);
        posting.head = 0;
      }
    } else if (posting === seq) values.delete(value);
    if (values.size === 0) this.names.delete(name);
  }

  /** Sequence numbers, oldest first; empty when nothing matches. */
  find(name: string, value: string): readonly number[] {
    const posting = this.names.get(name)?.get(value);
    if (posting === undefined) return [];
    if (typeof posting === 'number') return [posting];
    return posting.head === 0 ? posting.seqs : posting.seqs.slice(posting.head);
  }

  /** How many messages each value of this name has. */
  *counts(name: string): Iterable<[value: string, count: number]> {
    for (const [value, posting] of this.names.get(name) ?? [])
      yield [value, typeof posting === 'number' ? 1 : posting.seqs.length - posting.head];
  }

  clear(): void {
    this.names.clear();
  }
}

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

/** The part of a stored message that is kept in memory; its bodies and attachments stay in the log. */
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
