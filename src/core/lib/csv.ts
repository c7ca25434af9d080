import { type Options, stringify } from 'csv-stringify/sync';

// RFC 4180; a cell that a spreadsheet would take for a formula gets an apostrophe in front (OWASP, CSV injection).
const format: Options = {
  record_delimiter: 'windows',
  escape_formulas: true,
  cast: { boolean: String },
};

/** Lines of a CSV file with CRLF at their ends. Numbers stay as they are, null is an empty cell, and objects are JSON. */
export function csvLines(rows: readonly (readonly unknown[])[]): string {
  return stringify(rows as unknown[][], format);
}

const linesPerTurn = 100;

/**
 * The text of a CSV file: its titles, together with the first rows, and then all others, some lines at a time, so that a large file keeps no
 * other request waiting.
 */
export async function* csvFile(
  titles: readonly string[],
  pages: AsyncIterable<readonly (readonly unknown[])[]>,
): AsyncGenerator<string> {
  let head = [titles];
  for await (const rows of pages) {
    for (let at = 0; at < rows.length; at += linesPerTurn) {
      yield csvLines([...head, ...rows.slice(at, at + linesPerTurn)]);
      head = [];
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  if (head.length > 0) yield csvLines(head);
}
