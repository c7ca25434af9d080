import type { Entry } from './entry.ts';
import type { MessageStore } from './store.ts';

/** Criteria of a search for messages; every field given must match. Addresses and names without regard to case. */
export interface Filter {
  /** Exactly this address among the recipients. */
  recipient?: string;
  fromEmail?: string;
  tag?: string;
  stream?: string;
  /** Part of the subject. */
  subject?: string;
  /** Part of a recipient. */
  to?: string;
  /** Part of the subject, sender, tag or a recipient. */
  text?: string;
  /** Milliseconds since 1970, inclusive. */
  fromDate?: number;
  toDate?: number;
  metadata?: readonly (readonly [name: string, value: string])[];
}

/** Messages that match, newest first. Metadata and recipient are looked up in an index, the rest is compared. */
export function* search(store: MessageStore, filter: Filter, before?: Entry): Iterable<Entry> {
  const tests = testsOf(filter);
  const [first] = filter.metadata ?? [];
  const candidates = first
    ? store.withMetadata(first[0].toLowerCase(), first[1])
    : filter.recipient
      ? store.withRecipient(filter.recipient.toLowerCase())
      : store.newest(before);
  for (const entry of candidates) {
    if ((!before || entry.seq < before.seq) && tests.every((test) => test(entry))) yield entry;
  }
}

/** Splits a search into one page and the number of all that match. */
export function page(found: Iterable<Entry>, offset: number, count: number): { total: number; entries: Entry[] } {
  const entries: Entry[] = [];
  let total = 0;
  for (const entry of found) {
    if (total >= offset && entries.length < count) entries.push(entry);
    total += 1;
  }
  return { total, entries };
}

type Test = (entry: Entry) => boolean;

function testsOf(filter: Filter): Test[] {
  const tests: Test[] = [];
  const { tag, stream, fromDate, toDate } = filter;
  for (const [name, value] of filter.metadata ?? []) {
    const wanted = name.toLowerCase();
    tests.push(({ metadata }) => Object.entries(metadata).some(([k, v]) => v === value && k.toLowerCase() === wanted));
  }
  const recipient = filter.recipient?.toLowerCase();
  if (recipient) tests.push((entry) => entry.recipients.includes(recipient));
  const fromEmail = filter.fromEmail?.toLowerCase();
  if (fromEmail) tests.push((entry) => entry.fromEmail === fromEmail);
  if (tag) tests.push((entry) => entry.tag === tag);
  if (stream) tests.push((entry) => entry.stream === stream);
  if (fromDate !== undefined) tests.push((entry) => entry.at >= fromDate);
  if (toDate !== undefined) tests.push((entry) => entry.at <= toDate);
  const subject = filter.subject?.toLowerCase();
  if (subject) tests.push((entry) => entry.subject.toLowerCase().includes(subject));
  const to = filter.to?.toLowerCase();
  if (to) tests.push((entry) => entry.recipients.some((email) => email.includes(to)));
  const text = filter.text?.toLowerCase();
  if (text) tests.push((entry) => textOf(entry).includes(text));
  return tests;
}

function textOf(entry: Entry): string {
  return `${entry.subject}\n${entry.from}\n${entry.tag}\n${entry.recipients.join('\n')}`.toLowerCase();
}
