import type { Command } from 'commander';

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
