import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** A log file of bounded size: the newest part, and one older part beside it with `.1` behind its name. */
export interface LogFile {
  path: string;
  /** Appends output as it came. A disk that is full loses lines and stops nothing. */
  write(chunk: string | Buffer): void;
  /** The last lines that were written by this process, oldest first. */
  tail(lines: number): string[];
}

const partBytes = 10 * 1024 * 1024;
const keptInMemory = 8 * 1024;

/** Opens a log below a folder that is made where it is missing. Both parts together stay below twice `maxBytes`. */
export function openLog(path: string, maxBytes: number = partBytes): LogFile {
  mkdirSync(dirname(path), { recursive: true });
  let size = sizeOf(path);
  let recent = '';
  return {
    path,
    write(chunk) {
      recent = (recent + chunk.toString()).slice(-keptInMemory);
      try {
        if (size > 0 && size + chunk.length > maxBytes) {
          renameSync(path, `${path}.1`);
          size = 0;
        }
        appendFileSync(path, chunk, { mode: 0o600 });
        size += chunk.length;
      } catch {
        size = sizeOf(path);
      }
    },
    tail: (lines) =>
      recent
        .split('\n')
        .filter((line) => line.trim() !== '')
        .slice(-lines),
  };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
