import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { SubmittedMessage } from '../schema.ts';
import { DiskLog } from './disk-log.ts';
import { type Entry, entryOf, type MailEvent, Postings } from './entry.ts';
import { createMemoryLog, type Log, type LogPlace, StoreChanges } from './log.ts';

/** How much the sandbox keeps. The oldest messages leave first; totals go on counting. */
export interface StoreOptions {
  /** A folder of its own, or null to keep everything in memory. */
  dataDir: string | null;
  /** Messages kept. */
  keep: number;
  /** Bytes of messages kept; bounds memory or disk also when messages carry large attachments. */
  keepBytes: number;
}

type Line =
  | { t: 'h'; accepted: number; cleared: boolean }
  | { t: 'm'; id: string; at: number; m: SubmittedMessage }
  | { t: 'e'; id: string; e: MailEvent }
  | { t: 'r'; id: string };

// Of a message that is clicked forever, the first ones are enough; this bounds memory and log.
const eventsPerMessage = 500;

/**
 * The messages of the sandbox: their bodies in a log, what is searched in memory. The constructor replays the folder, and throws
 * the system's error when it cannot be used.
 */
export class MessageStore {
  /** Emits `added` after messages were stored. */
  readonly additions = new EventEmitter().setMaxListeners(0);
  /** Everything that pages show and that changes. */
  readonly changes = new StoreChanges();
  private readonly options: StoreOptions;
  private readonly byId = new Map<string, Entry>();
  private readonly bySeq = new Map<number, Entry>();
  private readonly metadata = new Postings();
  private readonly recipients = new Postings();
  private readonly log: Log;
  private accepted = 0;
  private first = 1;
  private next = 1;
  private bytes = 0;
  private clearing = false;

  constructor(options: StoreOptions) {
    this.options = options;
    const shape = {
      segmentBytes: Math.min(32 << 20, Math.ceil(options.keepBytes / 8)),
      segmentLines: Math.max(1_000, Math.ceil(options.keep / 4)),
      header: () => encode({ t: 'h', accepted: this.accepted, cleared: this.clearing }),
    };
    this.log =
      options.dataDir === null
        ? createMemoryLog(shape)
        : new DiskLog({ ...shape, dir: options.dataDir, onLine: (line, place) => this.replay(line, place) });
    this.prune();
  }

  /** Stores messages, in order. When it returns they survive the end of the process. */
  add(messages: readonly SubmittedMessage[], at: number): Entry[] {
    const ids = messages.map(() => randomUUID());
    const places = this.log.append(messages.map((m, i) => encode({ t: 'm', id: ids[i] ?? '', at, m })));
    const entries = messages.map((message, i) => this.insert(ids[i] ?? '', at, message, places[i] as LogPlace));
    this.prune();
    this.additions.emit('added');
    this.changes.note();
    return entries;
  }

  /** Records what happened to messages; events of messages that have left are dropped. */
  addEvents(events: readonly (readonly [Entry, MailEvent])[]): void {
    const kept = events.filter(([entry]) => this.byId.has(entry.id) && entry.events.length < eventsPerMessage);
    if (kept.length === 0) return;
    this.log.append(kept.map(([entry, { webhook: _, ...e }]) => encode({ t: 'e', id: entry.id, e })));
    for (const [entry, event] of kept) entry.events.push(event);
    this.changes.note();
  }

  /** Notes that messages were opened in the inbox; those that were before, or have left, are passed over. */
  markRead(entries: Iterable<Entry>): void {
    const opened = [...entries].filter((entry) => !entry.read && this.byId.has(entry.id));
    if (opened.length === 0) return;
    this.log.append(opened.map(({ id }) => encode({ t: 'r', id })));
    for (const entry of opened) entry.read = true;
    this.changes.note();
  }

  get(id: string): Entry | undefined {
    return this.byId.get(id);
  }

  /** The message as it was submitted, or null when it has left meanwhile. */
  async read(entry: Entry): Promise<SubmittedMessage | null> {
    const line = await this.log.read(entry.place);
    const found = line && decode(line);
    return found?.t === 'm' ? found.m : null;
  }

  /** Newest first, optionally only those before a message. */
  *newest(before?: Entry): Iterable<Entry> {
    for (let seq = (before?.seq ?? this.next) - 1; seq >= this.first; seq -= 1) {
      const entry = this.bySeq.get(seq);
      if (entry) yield entry;
    }
  }

  /** Newest first, those with exactly this metadata value; `name` in lower case. */
  withMetadata(name: string, value: string): Iterable<Entry> {
    return this.newestOf(this.metadata.find(name, value));
  }

  /** Newest first, those to exactly this recipient, in lower case. */
  withRecipient(email: string): Iterable<Entry> {
    return this.newestOf(this.recipients.find('', email));
  }

  /** How many kept messages each value of a metadata key has. */
  metadataCounts(name: string): Iterable<[value: string, count: number]> {
    return this.metadata.counts(name);
  }

  /** Deletes every message. */
  clear(): void {
    this.clearing = true;
    try {
      this.log.startOver();
    } finally {
      this.clearing = false;
    }
    this.forgetAll();
    this.changes.note();
  }

  /** Deletes the messages to a recipient (lower case), with all that happened to them; answers how many. */
  deleteTo(recipient: string): number {
    const gone = new Set(
      [...this.newest()].filter((entry) => entry.recipients.includes(recipient)).map(({ id }) => id),
    );
    if (gone.size === 0) return 0;
    this.log.blank((line) => gone.has(line.toString('latin1', idFrom, idFrom + 36)));
    const left = [...this.newest()].filter(({ id }) => !gone.has(id)).reverse();
    const { next, accepted } = this;
    this.forgetAll();
    for (const entry of left) this.keep(entry);
    Object.assign(this, { next, accepted, first: left[0]?.seq ?? next });
    this.changes.note();
    return gone.size;
  }

  /** Messages ever accepted, over restarts, and messages kept now. */
  totals(): { accepted: number; stored: number } {
    return { accepted: this.accepted, stored: this.byId.size };
  }

  /** Kept messages that nobody has opened in the inbox. */
  unread(): number {
    let count = 0;
    for (const entry of this.byId.values()) if (!entry.read) count += 1;
    return count;
  }

  close(): void {
    this.log.close();
  }

  private replay(line: Buffer, place: LogPlace): void {
    const found = decode(line);
    if (found?.t === 'h') {
      if (found.cleared) this.forgetAll();
      this.accepted = found.accepted;
    } else if (found?.t === 'm') {
      this.insert(found.id, found.at, found.m, place);
      this.evict();
    } else if (found?.t === 'e') this.byId.get(found.id)?.events.push(found.e);
    else if (found?.t === 'r') this.replayRead(found.id);
  }

  private replayRead(id: string): void {
    const entry = this.byId.get(id);
    if (entry) entry.read = true;
  }

  private insert(id: string, at: number, message: SubmittedMessage, place: LogPlace): Entry {
    const entry = entryOf(this.next, id, at, message, place);
    this.next += 1;
    this.accepted += 1;
    this.keep(entry);
    return entry;
  }

  private keep(entry: Entry): void {
    this.bytes += entry.place.length;
    this.byId.set(entry.id, entry);
    this.bySeq.set(entry.seq, entry);
    for (const [name, value] of Object.entries(entry.metadata)) this.metadata.add(name.toLowerCase(), value, entry.seq);
    for (const email of entry.recipients) this.recipients.add('', email, entry.seq);
  }

  private evict(): void {
    const { keep, keepBytes } = this.options;
    while (this.byId.size > keep || (this.bytes > keepBytes && this.byId.size > 1)) {
      const entry = this.bySeq.get(this.first);
      this.first += 1;
      if (!entry) continue;
      const { seq, id, place, metadata, recipients } = entry;
      this.bySeq.delete(seq);
      this.byId.delete(id);
      this.bytes -= place.length;
      for (const [name, value] of Object.entries(metadata)) this.metadata.remove(name.toLowerCase(), value, seq);
      for (const email of recipients) this.recipients.remove('', email, seq);
    }
  }

  private prune(): void {
    this.evict();
    const oldest = this.bySeq.get(this.first);
    if (oldest) this.log.dropBefore(oldest.place.segment);
  }

  private forgetAll(): void {
    this.byId.clear();
    this.bySeq.clear();
    this.metadata.clear();
    this.recipients.clear();
    this.bytes = 0;
    this.first = this.next;
  }

  private *newestOf(seqs: readonly number[]): Iterable<Entry> {
    for (let i = seqs.length - 1; i >= 0; i -= 1) {
      const entry = this.bySeq.get(seqs[i] ?? 0);
      if (entry) yield entry;
    }
  }
}

// Every line about a message begins with its kind and ID.
const idFrom = '{"t":"m","id":"'.length;

function encode(line: Line): Buffer {
  return Buffer.from(JSON.stringify(line));
}

function decode(line: Buffer): Line | null {
  try {
    return JSON.parse(line.toString()) as Line;
  } catch {
    return null;
  }
}
