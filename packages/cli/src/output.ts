import type { Command } from 'commander';

/** Whether a command prints JSON. */
export function isJson(command: Command): boolean {
  return command.optsWithGlobals<{ json?: boolean }>().json === true;
}

/** Prints a result: one line of JSON with `--json`, else the text. */
export function print(command: Command, value: unknown, text: string): void {
  console.log(isJson(command) ? JSON.stringify(value) : text);
}

/** Rows under each other, their columns as wide as their longest cell. */
export function table(rows: readonly (readonly (string | number | null | undefined)[])[]): string {
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
