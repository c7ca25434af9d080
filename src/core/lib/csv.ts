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

/** The text of a CSV file: its titles, together with the first page of rows, and then each further page. */
export async function* csvFile(
  titles: readonly string[],
  pages: AsyncIterable<readonly (readonly unknown[])[]>,
): AsyncGenerator<string> {
  let head = [titles];
  for await (const rows of pages) {
    if (head.length + rows.length > 0) yield csvLines([...head, ...rows]);
    head = [];
  }
  if (head.length > 0) yield csvLines(head);
}
