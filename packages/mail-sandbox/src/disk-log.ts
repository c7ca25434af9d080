import {
  closeSync,
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
import type { Log, LogOptions, Place } from './log.ts';

/** What a log on disk needs from its owner. */
export interface DiskLogOptions extends LogOptions {
  dir: string;
  /** Called once for each line found at the start, oldest first, headers included. */
  onLine(line: Buffer, place: Place): void;
}

const lineBreak = 0x0a;
const segmentName = /^segment-(\d{8})\.jsonl$/;

/**
 * Opens the log in a folder, making it if need be, and replays what it holds. A line that was cut short by a crash is
 * removed. Writes are plain appends without fsync: they survive the death of the process, not that of the machine.
 * Throws the system's error when the folder cannot be used.
 */
export function openDiskLog(options: DiskLogOptions): Log {
  mkdirSync(options.dir, { recursive: true, mode: 0o700 });
  const pathOf = (segment: number) => join(options.dir, `segment-${String(segment).padStart(8, '0')}.jsonl`);
  const found = readdirSync(options.dir)
    .map((name) => Number(segmentName.exec(name)?.[1] ?? Number.NaN))
    .filter((segment) => segment > 0)
    .sort((a, b) => a - b);

  let lines = 0;
  for (const segment of found) lines = replaySegment(pathOf(segment), segment, options.onLine);

  let oldest = found[0] ?? 1;
  let current = found.at(-1) ?? 0;
  let size = 0;
  let fd = -1;
  if (current === 0) startSegment();
  else {
    fd = openSync(pathOf(current), 'a');
    size = fstatSync(fd).size;
  }

  function startSegment(): void {
    const next = openSync(pathOf(current + 1), 'ax', 0o600);
    if (fd >= 0) closeSync(fd);
    fd = next;
    current += 1;
    size = 0;
    lines = 0;
    write([options.header()]);
  }

  function write(added: readonly Buffer[]): Place[] {
    const places: Place[] = [];
    const parts: Buffer[] = [];
    let offset = size;
    for (const line of added) {
      places.push({ segment: current, offset, length: line.length });
      parts.push(line, newline);
      offset += line.length + 1;
    }
    writeAll(Buffer.concat(parts));
    size = offset;
    lines += added.length;
    return places;
  }

  function writeAll(bytes: Buffer): void {
    try {
      for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
    } catch (error) {
      // A full disk may leave half a line, which would swallow the next one.
      ftruncateSync(fd, size);
      throw error;
    }
  }

  function dropBefore(segment: number): void {
    for (; oldest < Math.min(segment, current); oldest += 1) rmSync(pathOf(oldest), { force: true });
  }

  return {
    append(added) {
      if (size >= options.segmentBytes || lines >= options.segmentLines) startSegment();
      return write(added);
    },
    async read(place) {
      const file = await open(pathOf(place.segment), 'r').catch(() => null);
      if (!file) return null;
      try {
        const line = Buffer.allocUnsafe(place.length);
        const { bytesRead } = await file.read(line, 0, place.length, place.offset);
        return bytesRead === place.length ? line : null;
      } finally {
        await file.close();
      }
    },
    dropBefore,
    startOver() {
      startSegment();
      dropBefore(current);
    },
    close() {
      if (fd >= 0) closeSync(fd);
      fd = -1;
    },
  };
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
