import {
  appendFileSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { Terminal } from '../terminal.ts';

/** A log file of bounded size: the newest part, and one older part beside it with `.1` behind its name. */
export interface LogFile {
  path: string;
  /** Appends output as it came. A disk that is full loses lines and stops nothing. */
  write(chunk: string | Buffer): void;
  /**
   * Opens the file for a program that writes to it by itself, and so can go on when this process is gone. The caller closes the
   * descriptor. The size is checked every minute.
   */
  openForProgram(): number;
  /** The last lines since the last `openForProgram`, or since the log was opened; oldest first, without frames of a stack. */
  tail(lines: number): string[];
}

const partBytes = 10 * 1024 * 1024;
const tailBytes = 8 * 1024;
const checkEveryMs = 60_000;
const stackFrame = /^\s+at |^Node\.js v/;

/** Opens a log below a folder that is made where it is missing. */
export function openLog(path: string, maxBytes: number = partBytes): LogFile {
  mkdirSync(dirname(path), { recursive: true });
  const older = `${path}.1`;
  if (sizeOf(path) > maxBytes) renameSync(path, older);
  let size = sizeOf(path);
  let begin = size;
  let isWatched = false;

  // The program holds the file open, so its bytes are moved and not its name. Lines written in between are lost.
  const makeRoom = () => {
    if (sizeOf(path) <= maxBytes) return;
    try {
      copyFileSync(path, older);
      truncateSync(path, 0);
      begin = 0;
    } catch {
      // A full disk; the next check may succeed.
    }
  };

  return {
    path,
    write(chunk) {
      try {
        if (size > 0 && size + chunk.length > maxBytes) {
          renameSync(path, older);
          size = 0;
          begin = 0;
        }
        appendFileSync(path, chunk, { mode: 0o600 });
        size += chunk.length;
      } catch {
        size = sizeOf(path);
      }
    },
    openForProgram() {
      begin = sizeOf(path);
      if (!isWatched) setInterval(makeRoom, checkEveryMs).unref();
      isWatched = true;
      return openSync(path, 'a', 0o600);
    },
    tail: (lines) =>
      endOf(path, begin)
        .split('\n')
        .filter((line) => line.trim() !== '' && !stackFrame.test(line))
        .slice(-lines),
  };
}

function endOf(path: string, begin: number): string {
  const size = sizeOf(path);
  const from = Math.max(Math.min(begin, size), size - tailBytes);
  if (size === from) return '';
  const bytes = Buffer.alloc(size - from);
  const descriptor = openSync(path, 'r');
  try {
    return bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, bytes.length, from));
  } finally {
    closeSync(descriptor);
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

const sameAgainMs = 30_000;
const lineBytes = 64 * 1024;
// pino writes the level first; 50 is error and 60 fatal.
const severe = /^\{"level":(?:50|60)\b/;

/**
 * Watches the log of one process and shows its errors at the terminal, each message at most twice a minute, however often it happens.
 * Everything else is in the log alone.
 */
export function surfaceErrors(
  name: string,
  terminal: Terminal,
  now: () => number = Date.now,
): (chunk: Buffer | string) => void {
  const lastShown = new Map<string, { at: number; skipped: number }>();
  let rest = '';
  return (chunk) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = (lines.pop() ?? '').slice(0, lineBytes);
    for (const line of lines) {
      if (!severe.test(line)) continue;
      const message = messageOf(line);
      if (message === null) continue;
      const last = lastShown.get(message);
      if (last && now() - last.at < sameAgainMs) {
        last.skipped += 1;
        continue;
      }
      if (lastShown.size > 200) lastShown.clear();
      lastShown.set(message, { at: now(), skipped: 0 });
      terminal.line(
        `[${name}] ${message}${last && last.skipped > 0 ? ` (and ${last.skipped} times since the last)` : ''}`,
      );
    }
  };
}

function messageOf(line: string): string | null {
  try {
    const entry: unknown = JSON.parse(line);
    if (typeof entry !== 'object' || entry === null) return null;
    const said = 'msg' in entry && typeof entry.msg === 'string' ? entry.msg : '';
    const thrown =
      'err' in entry && typeof entry.err === 'object' && entry.err !== null && 'message' in entry.err
        ? String(entry.err.message)
        : '';
    const parts = said === thrown ? [said] : [said, thrown];
    return (
      parts
        .filter((part) => part !== '')
        .join(': ')
        .replaceAll('\n', ' ')
        .slice(0, 300) || null
    );
  } catch {
    return null;
  }
}
