import { randomUUID } from 'node:crypto';
import { openDiskLog } from './disk-log.ts';
import { type Entry, entryOf, type MailEvent } from './entry.ts';
import { createMemoryLog, type Log, type Place } from './log.ts';
import { createPostings, type Postings } from './postings.ts';
import type { SubmittedMessage } from './schema.ts';

/** How much the sandbox keeps. The oldest messages leave first; totals go on counting. */
export interface StoreOptions {
  /** A folder of its own, or null to keep everything in memory. */
  dataDir: string | null;
  /** Messages kept. */
  keep: number;
  /** Bytes of messages kept; bounds memory or disk also when messages carry large attachments. */
  keepBytes: number;
}

/** The messages of the sandbox: their bodies in a log, what is searched in memory. */
export interface Store {
  /** Stores messages, in order. When it returns they survive the end of the process. */
  add(messages: readonly SubmittedMessage[], at: number): Entry[];
  /** Records what happened to messages; events of messages that have left are dropped. */
  addEvents(events: readonly (readonly [Entry, MailEvent])[]): void;
  get(id: string): Entry | undefined;
  /** The message as it was submitted, or null when it has left meanwhile. */
  read(entry: Entry): Promise<SubmittedMessage | null>;
  /** Newest first, optionally only those before a message. */
  newest(before?: Entry): Iterable<Entry>;
  /** Newest first, those with exactly this metadata value or recipient; `name` and recipients in lower case. */
  withMetadata(name: string, value: string): Iterable<Entry>;
  withRecipient(email: string): Iterable<Entry>;
  /** How many kept messages each value of a metadata key has. */
  metadataCounts(name: string): Iterable<[value: string, count: number]>;
  /** Deletes every message. */
  clear(): void;
  /** Messages ever accepted, over restarts, and messages kept now. */
  totals(): { accepted: number; stored: number };
  close(): void;
}

type Line =
  | { t: 'h'; accepted: number; cleared: boolean }
  | { t: 'm'; id: string; at: number; m: SubmittedMessage }
  | { t: 'e'; id: string; e: MailEvent };

// Of a message that is clicked forever, the first ones are enough; this bounds memory and log.
const eventsPerMessage = 500;

/** Opens the store and replays its folder. Throws the system's error when the folder cannot be used. */
export function openStore(options: StoreOptions): Store {
  const byId = new Map<string, Entry>();
  const bySeq = new Map<number, Entry>();
  const metadata: Postings = createPostings();
  const recipients: Postings = createPostings();
  let accepted = 0;
  let first = 1;
  let next = 1;
  let bytes = 0;
  let clearing = false;

  const log = openLog();
  prune();

  function openLog(): Log {
    const shape = {
      segmentBytes: Math.min(32 << 20, Math.ceil(options.keepBytes / 8)),
      segmentLines: Math.max(1_000, Math.ceil(options.keep / 4)),
      header: () => encode({ t: 'h', accepted, cleared: clearing }),
    };
    if (options.dataDir === null) return createMemoryLog(shape);
    return openDiskLog({ ...shape, dir: options.dataDir, onLine: replay });
  }

  function replay(line: Buffer, place: Place): void {
    const found = decode(line);
    if (found?.t === 'h') {
      if (found.cleared) forgetAll();
      accepted = found.accepted;
    } else if (found?.t === 'm') {
      insert(found.id, found.at, found.m, place);
      evict();
    } else if (found?.t === 'e') byId.get(found.id)?.events.push(found.e);
  }

  function insert(id: string, at: number, message: SubmittedMessage, place: Place): Entry {
    const entry = entryOf(next, id, at, message, place);
    next += 1;
    accepted += 1;
    bytes += place.length;
    byId.set(id, entry);
    bySeq.set(entry.seq, entry);
    for (const [name, value] of Object.entries(entry.metadata)) metadata.add(name.toLowerCase(), value, entry.seq);
    for (const email of entry.recipients) recipients.add('', email, entry.seq);
    return entry;
  }

  function evict(): void {
    while (byId.size > options.keep || (bytes > options.keepBytes && byId.size > 1)) {
      const entry = bySeq.get(first);
      first += 1;
      if (!entry) continue;
      bySeq.delete(entry.seq);
      byId.delete(entry.id);
      bytes -= entry.place.length;
      for (const [name, value] of Object.entries(entry.metadata)) metadata.remove(name.toLowerCase(), value, entry.seq);
      for (const email of entry.recipients) recipients.remove('', email, entry.seq);
    }
  }

  function prune(): void {
    evict();
    const oldest = bySeq.get(first);
    if (oldest) log.dropBefore(oldest.place.segment);
  }

  function forgetAll(): void {
    byId.clear();
    bySeq.clear();
    metadata.clear();
    recipients.clear();
    bytes = 0;
    first = next;
  }

  function* newestOf(seqs: readonly number[]): Iterable<Entry> {
    for (let i = seqs.length - 1; i >= 0; i -= 1) {
      const entry = bySeq.get(seqs[i] ?? 0);
      if (entry) yield entry;
    }
  }

  return {
    add(messages, at) {
      const ids = messages.map(() => randomUUID());
      const places = log.append(messages.map((m, i) => encode({ t: 'm', id: ids[i] ?? '', at, m })));
      const entries = messages.map((message, i) => insert(ids[i] ?? '', at, message, places[i] as Place));
      prune();
      return entries;
    },
    addEvents(events) {
      const kept = events.filter(([entry]) => byId.has(entry.id) && entry.events.length < eventsPerMessage);
      if (kept.length === 0) return;
      log.append(kept.map(([entry, { webhook: _, ...e }]) => encode({ t: 'e', id: entry.id, e })));
      for (const [entry, event] of kept) entry.events.push(event);
    },
    get: (id) => byId.get(id),
    async read(entry) {
      const line = await log.read(entry.place);
      const found = line && decode(line);
      return found?.t === 'm' ? found.m : null;
    },
    *newest(before) {
      for (let seq = (before?.seq ?? next) - 1; seq >= first; seq -= 1) {
        const entry = bySeq.get(seq);
        if (entry) yield entry;
      }
    },
    withMetadata: (name, value) => newestOf(metadata.find(name, value)),
    withRecipient: (email) => newestOf(recipients.find('', email)),
    metadataCounts: (name) => metadata.counts(name),
    clear() {
      clearing = true;
      try {
        log.startOver();
      } finally {
        clearing = false;
      }
      forgetAll();
    },
    totals: () => ({ accepted, stored: byId.size }),
    close: () => log.close(),
  };
}

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
