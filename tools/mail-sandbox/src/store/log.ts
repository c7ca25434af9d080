import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';

// Ten thousand messages in a second are no reason to read a page again ten thousand times.
const pauseMs = 250;

/** Counts what changes in the store, so that open pages know when to be read again. */
export class StoreChanges {
  private readonly run = randomUUID();
  private readonly noted = new EventEmitter().setMaxListeners(0);
  private count = 0;

  /** Names the state of the store; another one after each change, and after a restart. */
  get version(): string {
    return `${this.run}.${this.count}`;
  }

  /** Something was stored, read or deleted, or has happened to a message. */
  note(): void {
    this.count += 1;
    this.noted.emit('change');
  }

  /**
   * Calls `onChange` with the version whenever it differs from the last reported one, `known` at first: at once, and then at most four
   * times a second. Returns a function that ends it.
   */
  follow(known: string, onChange: (version: string) => void): () => void {
    let reported = known;
    let pause: NodeJS.Timeout | null = null;
    const check = () => {
      if (pause !== null || reported === this.version) return;
      reported = this.version;
      pause = setTimeout(() => {
        pause = null;
        check();
      }, pauseMs);
      onChange(reported);
    };
    this.noted.on('change', check);
    check();
    return () => {
      this.noted.off('change', check);
      if (pause !== null) clearTimeout(pause);
    };
  }
}

/** Where a line of the log lies: the segment's number, and the offset and length in bytes without the line break. */
export interface LogPlace {
  segment: number;
  offset: number;
  length: number;
}

/**
 * An append-only log of lines in segments. Old segments are dropped as a whole, which bounds its size without ever
 * rewriting a line.
 */
export interface Log {
  /** Adds lines in one write. When it returns, they survive the end of this process. */
  append(lines: readonly Buffer[]): LogPlace[];
  /** The line at a place, or null when its segment was dropped. */
  read(place: LogPlace): Promise<Buffer | null>;
  /** Blanks every line that fits, where it lies: places of others stay. Such a line is read as nothing. */
  blank(fits: (line: Buffer) => boolean): void;
  /** Deletes every segment with a smaller number; the newest one always stays. */
  dropBefore(segment: number): void;
  /** Begins a new, empty segment and deletes all others. */
  startOver(): void;
  close(): void;
}

/** Options of a log. */
export interface LogOptions {
  /** A segment that has reached this size is followed by a new one. */
  segmentBytes: number;
  /** The same for the number of lines. */
  segmentLines: number;
  /** The first line of a new segment: what must outlive the segments before it. */
  header(): Buffer;
}

/** A log that lives as long as the process. */
export function createMemoryLog(options: LogOptions): Log {
  const segments = new Map<number, Buffer[]>();
  let current = 0;
  let oldest = 1;
  let bytes = 0;
  let lines: Buffer[] = [];

  function startSegment(): void {
    current += 1;
    lines = [];
    bytes = 0;
    segments.set(current, lines);
  }

  function dropBefore(segment: number): void {
    for (; oldest < Math.min(segment, current); oldest += 1) segments.delete(oldest);
  }

  startSegment();
  return {
    append(added) {
      if (bytes >= options.segmentBytes || lines.length >= options.segmentLines) startSegment();
      return added.map((line) => {
        bytes += line.length;
        return { segment: current, offset: lines.push(line) - 1, length: line.length };
      });
    },
    async read(place) {
      return segments.get(place.segment)?.[place.offset] ?? null;
    },
    blank(fits) {
      for (const kept of segments.values())
        for (const [index, line] of kept.entries()) if (fits(line)) kept[index] = Buffer.alloc(0);
    },
    dropBefore,
    startOver() {
      startSegment();
      dropBefore(current);
    },
    close() {
      segments.clear();
    },
  };
}
