import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openTerminal, type Terminal } from '../src/terminal.ts';

/** A folder that goes away at the end of the test. Use with `using`. */
export function temporaryFolder(): { path: string; [Symbol.dispose](): void } {
  const path = mkdtempSync(join(tmpdir(), 'fernpost-unit-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** A terminal that remembers its lines. */
export function fakeTerminal(): Terminal & { text(): string } {
  let text = '';
  const terminal = openTerminal({
    write: (more) => {
      text += more;
    },
  });
  return { ...terminal, text: () => text };
}

/** Writes an executable shell script. */
export function script(path: string, body: string): string {
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** Waits until something is so, and fails when it does not become so. */
export async function eventually(isSo: () => boolean | Promise<boolean>, limitMs = 45_000): Promise<void> {
  const giveUpAt = Date.now() + limitMs;
  while (!(await isSo())) {
    if (Date.now() > giveUpAt) throw new Error(`not so after ${limitMs} ms: ${isSo}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
