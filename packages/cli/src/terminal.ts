import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { FernpostError } from '@fernpost/sdk';
import type { Command } from 'commander';

/** Exit codes of the program. */
export const exitCodes = { refused: 1, usage: 2, unreachable: 3 } as const;

/** Something that the user has to change: a missing file, a missing key. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** A failure that belongs to a file of the user. */
class FileError extends Error {
  override name = 'FileError';
  readonly file: string;

  constructor(file: string, cause: unknown) {
    super(file, { cause });
    this.file = file;
  }
}

/** Does the work; a failure names the file. @throws FileError */
export async function ofFile<Value>(file: string, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    throw new FileError(file, error);
  }
}

interface Explanation {
  text: string;
  json: { error: Record<string, unknown> };
  code: number;
}

/** An error for people, the same for programs, and how the program ends. */
export function explainError(error: unknown): Explanation {
  if (error instanceof FileError) {
    const { text, json, code } = explainError(error.cause);
    const named = text.includes(error.file) ? text : `${error.file}: ${text}`;
    return { text: named, json: { error: { ...json.error, file: error.file } }, code };
  }
  if (error instanceof FernpostError) {
    const { status, code, message, fields, details, suggestion, requestId } = error;
    const lines = [
      message,
      ...fields.map((one) => `  ${one.field}: ${one.message}`),
      ...(suggestion === null ? [] : [`  ${suggestion}`]),
      ...(requestId === null ? [] : [`  Request: ${requestId}`]),
    ];
    const json = { error: { status, code, message, fields, details, suggestion, requestId } };
    return { text: lines.join('\n'), json, code: exitCodes.refused };
  }
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof UsageError)
    return { text: message, json: { error: { code: 'USAGE', message } }, code: exitCodes.usage };
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
  // `fetch` says so when there is no response, and fails with a TimeoutError when it takes too long.
  if (error instanceof Error && (error.message === 'fetch failed' || error.name === 'TimeoutError')) {
    const text = `The service did not answer (${message}${cause}). Is the address right? --url, FERNPOST_URL or fernpost login set it.`;
    return { text, json: { error: { code: 'UNREACHABLE', message: text } }, code: exitCodes.unreachable };
  }
  return { text: message, json: { error: { code: 'FAILED', message } }, code: exitCodes.refused };
}

/** Whether a command prints JSON. */
export function isJson(command: Command): boolean {
  return command.optsWithGlobals<{ json?: boolean }>().json === true;
}

/** Prints a result: one line of JSON with `--json`, else the text. */
export function print(command: Command, value: unknown, text: string): void {
  console.log(isJson(command) ? JSON.stringify(value) : text);
}

type Cell = string | number | null | undefined;

/** Prints a list: an array of JSON with `--json`, else a row for each item, or a sentence where there is none. */
export function printList<Item>(
  command: Command,
  items: readonly Item[],
  row: (item: Item) => readonly Cell[],
  none: string,
): void {
  print(command, items, items.length === 0 ? none : table(items.map(row)));
}

/** Rows under each other, their columns as wide as their longest cell. */
export function table(rows: readonly (readonly Cell[])[]): string {
  const cells = rows.map((row) => row.map((cell) => plain(String(cell ?? ''))));
  const widths = cells.reduce<number[]>((most, row) => row.map((cell, i) => Math.max(most[i] ?? 0, cell.length)), []);
  return cells
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Without control characters: what others wrote must not move the cursor of a terminal. */
export function plain(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, ' ');
}

/** A pipe that its reader closed ends the program, as `head` does to everything before it. */
export function endWithReader(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit();
      throw error;
    });
}

/** Asks before something that cannot be taken back. @throws UsageError for "no", and where nobody can be asked */
export async function confirm(question: string): Promise<void> {
  if (!process.stdin.isTTY) throw new UsageError(`${question} This needs a confirmation: add --yes.`);
  if (!/^y(es)?$/i.test(await ask(`${question} [y/N] `))) throw new UsageError('Nothing was changed.');
}

/** One line from the terminal. */
export async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await lines.question(question)).trim();
  } finally {
    lines.close();
  }
}

/** A secret: from the terminal without showing it, or all of standard input where that is a pipe. */
export async function askSecret(question: string): Promise<string> {
  if (!process.stdin.isTTY) return (await text(process.stdin)).trim();
  process.stderr.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true });
  try {
    return (await lines.question('')).trim();
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}
