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
