import { reservedKeys } from '../../core/lib/contact-data.ts';
import { normaliseEmail } from '../../core/lib/email-address.ts';
import type { JsonObjectValue } from '../../core/lib/json.ts';
import type { CsvRecord } from './csv.ts';

/** What each column of a file is for. Columns of neither kind are left out. */
export interface ImportColumns {
  /** Columns with the address: the last one that is not empty counts. */
  email: number[];
  subscribed: number[];
  data: { index: number; key: string }[];
}

/** A row that can be written. `subscribed` null leaves a known contact as it is. */
export interface ImportRow {
  email: string;
  subscribed: boolean | null;
  data: JsonObjectValue;
}

/** An `ImportRow` with its place in the file. */
export interface PlacedRow extends ImportRow {
  /** Line of the file. */
  row: number;
}

/** A row that cannot be written, and why. */
export interface RefusedRow {
  row: number;
  email: string | null;
  error: string;
}

// Names of the column in exports of other tools; `email` itself wins where a file has it.
const otherNamesOfEmail = ['email address', 'e-mail address', 'e-mail'];
const dropped = new Set([...reservedKeys, 'createdat', 'updatedat'].map((key) => key.toLowerCase()));
const longestShownEmail = 320;

/** Reads the header (contract page 1, 3.6): names are trimmed and lower-cased. Null without a column for the address. */
export function readHeader(cells: readonly string[]): ImportColumns | null {
  const names = cells.map((cell) => cell.trim().toLowerCase());
  const emailName = ['email', ...otherNamesOfEmail].find((name) => names.includes(name));
  if (emailName === undefined) return null;
  const columns: ImportColumns = { email: [], subscribed: [], data: [] };
  for (const [index, name] of names.entries()) {
    if (name === emailName) columns.email.push(index);
    else if (name === 'subscribed') columns.subscribed.push(index);
    else if (name !== '' && !dropped.has(name)) columns.data.push({ index, key: name });
  }
  return columns;
}

/** Reads one row: the contact, or why it cannot be written. */
export function readRow(columns: ImportColumns, { cells, line }: CsvRecord): ImportRow | RefusedRow {
  const written = lastFilled(cells, columns.email);
  const shown = written === '' ? null : written.slice(0, longestShownEmail).replaceAll('\0', '\ufffd');
  if (cells.some((cell) => cell.includes('\0')))
    return { row: line, email: shown, error: 'The row contains the character U+0000' };
  if (written === '') return { row: line, email: null, error: 'No email address' };
  const email = normaliseEmail(written);
  if (email === null) return { row: line, email: shown, error: 'Not a valid email address' };
  const data: JsonObjectValue = {};
  for (const { index, key } of columns.data) {
    const text = cells[index]?.trim() ?? '';
    // Objects of this kind have a setter under `__proto__`, but that name was dropped with the header.
    if (text !== '') data[key] = key === 'locale' ? text : typed(text);
  }
  return { email, subscribed: readSubscribed(lastFilled(cells, columns.subscribed)), data };
}

/** Whether the row cannot be written. */
export function isRefused(row: ImportRow | RefusedRow): row is RefusedRow {
  return 'error' in row;
}

function lastFilled(cells: readonly string[], indexes: readonly number[]): string {
  let filled = '';
  for (const index of indexes) filled = cells[index]?.trim() || filled;
  return filled;
}

function readSubscribed(text: string): boolean | null {
  if (text === '') return null;
  const word = text.toLowerCase();
  return word === 'true' || word === '1' || word === 'yes';
}

// Numbers are only what every spreadsheet writes the same way: `007`, `+4`, `1e5` and `1,5` stay text, and so do
// integers that a double would round.
function typed(text: string): string | number | boolean {
  if (text.length <= 5) {
    const word = text.toLowerCase();
    if (word === 'true' || word === 'yes') return true;
    if (word === 'false' || word === 'no') return false;
  }
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text)) return text;
  const number = Number(text);
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER ? number : text;
}
