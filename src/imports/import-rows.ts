import { type JsonObjectValue, reservedKeys } from '../lib/contact-data.ts';
import { normalizeEmail } from '../lib/validation/email-address.ts';
import type { CsvRecord } from './csv.ts';
import { type CellType, type ImportMapping, isProblem, keyOf, nameOf, readCell } from './import-mapping.ts';

/** What each column of a file is for. Columns of neither kind are left out. */
export interface ImportColumns {
  /** Columns with the address: the last one that is not empty counts. */
  email: number[];
  subscribed: number[];
  data: { index: number; key: string; type: CellType }[];
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

/**
 * Reads the header (docs/contract/core.md#3-6): names are trimmed and lower-cased, and columns that the mapping does not name get
 * their usual field. Null without a column for the address.
 */
export function readHeader(cells: readonly string[], mapping: ImportMapping = {}): ImportColumns | null {
  const names = cells.map(nameOf);
  const mapped = (name: string) => (Object.hasOwn(mapping, name) ? mapping[name] : undefined);
  const hasMappedEmail = names.some((name) => mapped(name)?.field === 'email');
  const emailName = hasMappedEmail
    ? undefined
    : ['email', ...otherNamesOfEmail].find((name) => names.includes(name) && mapped(name) === undefined);
  if (emailName === undefined && !hasMappedEmail) return null;
  const columns: ImportColumns = { email: [], subscribed: [], data: [] };
  for (const [index, name] of names.entries()) {
    const to = mapped(name) ?? (mapped(name) === null ? null : usualField(name, emailName));
    if (to === null) continue;
    if (to.field === 'email') columns.email.push(index);
    else if (to.field === 'subscribed') columns.subscribed.push(index);
    else columns.data.push({ index, key: keyOf(to.field), type: to.type });
  }
  return columns;
}

function usualField(name: string, emailName: string | undefined) {
  if (name === emailName) return { field: 'email', type: 'auto' as const };
  if (name === 'subscribed') return { field: 'subscribed', type: 'auto' as const };
  return name === '' || dropped.has(name) ? null : { field: `data.${name}`, type: 'auto' as const };
}

/** Reads one row: the contact, or why it cannot be written. */
export function readRow(columns: ImportColumns, { cells, line }: CsvRecord): ImportRow | RefusedRow {
  const written = lastFilled(cells, columns.email);
  const shown = written === '' ? null : written.slice(0, longestShownEmail).replaceAll('\0', '\ufffd');
  if (cells.some((cell) => cell.includes('\0')))
    return { row: line, email: shown, error: 'The row contains the character U+0000' };
  if (written === '') return { row: line, email: null, error: 'No email address' };
  const email = normalizeEmail(written);
  if (email === null) return { row: line, email: shown, error: 'Not a valid email address' };
  const data: JsonObjectValue = {};
  for (const { index, key, type } of columns.data) {
    const text = cells[index]?.trim() ?? '';
    if (text === '') continue;
    const value = readCell(text, key === 'locale' ? 'text' : type);
    if (isProblem(value)) return { row: line, email: shown, error: `“${key}” ${value.problem}` };
    // Objects of this kind have a setter under `__proto__`, but that name was dropped with the header.
    data[key] = value;
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
