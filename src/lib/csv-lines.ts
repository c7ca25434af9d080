/**
 * One line of a CSV file (RFC 4180), with its line end. A cell that a spreadsheet would take for a formula gets an
 * apostrophe in front, as OWASP recommends against CSV injection; null is an empty cell.
 */
export function csvLine(cells: readonly (string | null)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

const formula = /^[=+\-@\t\r]/;
const special = /[",\r\n]/;

function csvCell(value: string | null): string {
  if (value === null) return '';
  const safe = formula.test(value) ? `'${value}` : value;
  return special.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
