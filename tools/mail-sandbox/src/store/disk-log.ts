import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log, LogOptions, LogPlace } from './log.ts';

/** Options of a log on disk. */
export interface DiskLogOptions extends LogOptions {
  dir: string;
  /** Called once for each line found at the start, oldest first, headers included. */
  onLine(line: Buffer, place: LogPlace): void;
}

const lineBreak = 0x0a;
const segmentName = /^segment-(\d{8})\.jsonl$/;

/**
 * The log in a folder, which is made if need be; the constructor replays what it holds. A line that was cut short by a crash is
 * removed. Writes are plain appends without fsync: they survive the death of the process, not that of the machine.
 * Throws the system's error when the folder cannot be used.
 */
export class DiskLog implements Log {
  private readonly options: DiskLogOptions;
  private oldest: number;
  private current: number;
  private lines = 0;
  private size = 0;
  private fd = -1;

  constructor(options: DiskLogOptions) {
    this.options = options;
    mkdirSync(options.dir, { recursive: true, mode: 0o700 });
    const found = readdirSync(options.dir)
      .map((name) => Number(segmentName.exec(name)?.[1] ?? Number.NaN))
      .filter((segment) => segment > 0)
      .sort((a, b) => a - b);
    for (const segment of found) this.lines = replaySegment(this.pathOf(segment), segment, options.onLine);
    this.oldest = found[0] ?? 1;
    this.current = found.at(-1) ?? 0;
    if (this.current === 0) this.startSegment();
    else {
      this.fd = openSync(this.pathOf(this.current), 'a');
      this.size = fstatSync(this.fd).size;
    }
  }

  append(added: readonly Buffer[]): LogPlace[] {
    if (this.size >= this.options.segmentBytes || this.lines >= this.options.segmentLines) this.startSegment();
    return this.write(added);
  }

  async read(place: LogPlace): Promise<Buffer | null> {
    const file = await open(this.pathOf(place.segment), 'r').catch(() => null);
    if (!file) return null;
    try {
      const line = Buffer.allocUnsafe(place.length);
      const { bytesRead } = await file.read(line, 0, place.length, place.offset);
      return bytesRead === place.length ? line : null;
    } finally {
      await file.close();
    }
  }

  blank(fits: (line: Buffer) => boolean): void {
    for (let segment = this.oldest; segment <= this.current; segment += 1) {
      const path = this.pathOf(segment);
      const found: LogPlace[] = [];
      if (!existsSync(path)) continue;
      replaySegment(path, segment, (line, place) => {
        if (fits(line)) found.push(place);
      });
      if (found.length === 0) continue;
      const fd = openSync(path, 'r+');
      try {
        for (const { offset, length } of found) writeSync(fd, Buffer.alloc(length, ' '), 0, length, offset);
      } finally {
        closeSync(fd);
      }
    }
  }

  dropBefore(segment: number): void {
    const end = Math.min(segment, this.current);
    for (; this.oldest < end; this.oldest += 1) rmSync(this.pathOf(this.oldest), { force: true });
  }

  startOver(): void {
    this.startSegment();
    this.dropBefore(this.current);
  }

  close(): void {
    if (this.fd >= 0) closeSync(this.fd);
    this.fd = -1;
  }

  private pathOf(segment: number): string {
    return join(this.options.dir, `segment-${String(segment).padStart(8, '0')}.jsonl`);
  }

  private startSegment(): void {
    const next = openSync(this.pathOf(this.current + 1), 'ax', 0o600);
    this.close();
    this.fd = next;
    this.current += 1;
    this.size = 0;
    this.lines = 0;
    this.write([this.options.header()]);
  }

  private write(added: readonly Buffer[]): LogPlace[] {
    let offset = this.size;
    const places = added.map(({ length }) => {
      const place = { segment: this.current, offset, length };
      offset += length + 1;
      return place;
    });
    this.writeAll(Buffer.concat(added.flatMap((line) => [line, newline])));
    this.size = offset;
    this.lines += added.length;
    return places;
  }

  private writeAll(bytes: Buffer): void {
    try {
      for (let done = 0; done < bytes.length; ) done += writeSync(this.fd, bytes, done);
    } catch (error) {
      // A full disk may leave half a line, which would swallow the next one.
      ftruncateSync(this.fd, this.size);
      throw error;
    }
  }
}

const newline = Buffer.from('\n');

function replaySegment(path: string, segment: number, onLine: DiskLogOptions['onLine']): number {
  const fd = openSync(path, 'r+');
  try {
    const chunk = Buffer.allocUnsafe(1 << 20);
    let pending: Buffer[] = [];
    let pendingBytes = 0;
    let lineStart = 0;
    let lines = 0;
    for (;;) {
      const count = readSync(fd, chunk, 0, chunk.length, lineStart + pendingBytes);
      if (count === 0) break;
      let from = 0;
      for (let end = chunk.indexOf(lineBreak); end >= 0 && end < count; end = chunk.indexOf(lineBreak, from)) {
        const rest = chunk.subarray(from, end);
        const line = pendingBytes > 0 ? Buffer.concat([...pending, rest]) : rest;
        onLine(line, { segment, offset: lineStart, length: line.length });
        lineStart += line.length + 1;
        lines += 1;
        from = end + 1;
        pending = [];
        pendingBytes = 0;
      }
      if (from < count) {
        pending.push(Buffer.from(chunk.subarray(from, count)));
        pendingBytes += count - from;
      }
    }
    if (pendingBytes > 0) ftruncateSync(fd, lineStart);
    return lines;
  } finally {
    closeSync(fd);
  }
}
