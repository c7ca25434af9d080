import { contactDataError } from '../contacts/limits.ts';
import { type WrittenCounts, writeContacts } from '../contacts/write.ts';
import { type JsonObjectValue, reservedKeys } from '../lib/contact-data.ts';
import { normalizeEmail } from '../lib/validation/email-address.ts';
import { type Database, sql } from '../store/sql.ts';
import type { CsvRecord } from './csv.ts';
import { type CellType, type ImportMapping, isProblem, keyOf, nameOf, readCell } from './import-mapping.ts';
import type { JobRow } from './queries.ts';
import type { ImportOptions } from './schema.ts';

/** The columns of a file by their purpose. Columns of neither kind are left out. */
export interface ImportColumns {
  /** Columns with the address: the last one that is not empty counts. */
  email: number[];
  subscribed: number[];
  data: { index: number; key: string; type: CellType }[];
}

/** A row that can be written. `subscribed` null leaves a known contact as it is. */
interface ImportRow {
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

const consentKey = 'consentSource';

/** How an import subscribes contacts. */
export interface Subscribing {
  /** Whether new contacts are subscribed where their rows do not say. */
  subscribeNew: boolean;
  /** Data that contacts get whom the import subscribes: the source of their consent, or nothing. */
  consent: { [consentKey]?: string };
}

/** How an import with these options subscribes contacts. A column that becomes the field `consentSource` takes the place of the option. */
export function subscribingOf(
  { subscribeNew = true, consentSource }: Partial<Pick<ImportOptions, 'subscribeNew' | 'consentSource'>>,
  { data }: ImportColumns,
): Subscribing {
  const isGiven = consentSource !== undefined && !data.some(({ key }) => key === consentKey);
  return { subscribeNew, consent: isGiven ? { [consentKey]: consentSource } : {} };
}

/**
 * Creates and updates contacts on behalf of a job. No address may stand twice among the rows. Contacts that are already as the row says
 * are neither created nor updated.
 * @throws ContactDataError, with nothing written, when the data of a contact would exceed a limit
 */
export function upsertContacts(
  db: Database,
  { id, projectId, limitedBy }: JobRow,
  rows: readonly ImportRow[],
  { subscribeNew, consent }: Subscribing,
): Promise<WrittenCounts> {
  const extra = Object.keys(consent).length > 0 ? { consent } : {};
  const given = rows.map(({ email, subscribed, data }) => ({ email, subscribed, set: data, ...extra }));
  return writeContacts(db, projectId, given, { cause: id, limitedBy, subscribedWhenNew: subscribeNew });
}

/** Returns the rows that cannot be written because the data of their contacts would exceed a limit. */
export async function excessiveRows(
  db: Database,
  projectId: string,
  rows: readonly PlacedRow[],
  { subscribeNew, consent }: Subscribing,
): Promise<RefusedRow[]> {
  const found = await db.rows<{ email: string; problem: string }>(sql`
    select r.email, p.problem
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (email text, subscribed boolean, data jsonb)
    left join contacts c on c.project_id = ${projectId} and c.email = r.email,
    lateral (
      select case when coalesce(r.subscribed, ${subscribeNew}::boolean)
        then ${JSON.stringify(consent)}::jsonb || r.data else r.data end as data) i,
    lateral (
      select case when c.id is null or r.subscribed and not c.subscribed then i.data else r.data end as data) w,
    lateral contact_data_problem(${projectId}, c.data, coalesce(c.data, '{}') || w.data) as p (problem)
    where p.problem is not null`);
  const problems = new Map(found.map(({ email, problem }) => [email, contactDataError(problem)?.problem]));
  return rows.flatMap(({ row, email }) => {
    const problem = problems.get(email);
    return problem === undefined ? [] : [{ row, email, error: `The data of the row ${problem}` }];
  });
}
