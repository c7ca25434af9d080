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

const usualVersion = 'echo "temporal version 1.9.1 (Server 1.32.0, UI 2.54.1)"';

/** A server that makes a table where its database is new, listens, and runs until it is told to stop. */
export const fakeServer = (table = 'one') => `exec ${process.execPath} -e '
const after = (flag) => process.argv[process.argv.indexOf(flag) + 1];
const { DatabaseSync } = require("node:sqlite");
const isNew = !require("node:fs").existsSync(after("--db-filename"));
const database = new DatabaseSync(after("--db-filename"));
if (isNew) database.exec("create table ${table} (x)");
require("node:net").createServer().listen(Number(after("--port")), "127.0.0.1");' -- "$@"`;

/** A program that speaks as the Temporal CLI does; each start of its server is noted in a file beside it. */
export function fakeCli(path: string, { version = usualVersion, server = fakeServer() } = {}): string {
  return script(
    path,
    `case "$1" in --version) ${version} ;; operator) exit 0 ;; server) echo "$*" >> "$0.starts"; ${server} ;; esac`,
  );
}

/** Waits until something is so. Fails after ten minutes: on a busy machine it may be slow, but not wrong. */
export async function eventually(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = Date.now() + 600_000;
  while (!(await isSo())) {
    if (Date.now() > giveUpAt) throw new Error(`not so after ten minutes: ${isSo}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
