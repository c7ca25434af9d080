import type { Terminal } from '../terminal.ts';

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
