import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The list that imports are tested with, as it lies on disk. */
export const audienceFile = readFileSync(fileURLToPath(new URL('../data/audience.csv', import.meta.url)));

/**
 * What a file does to an audience, by the book (docs/contract/core.md#3-6), told by code that shares nothing with the service.
 */
export interface ImportOutcome {
  totalRows: number;
  createdCount: number;
  updatedCount: number;
  unchangedCount: number;
  failureCount: number;
  /** Line of the file, address as written (or null), and the kind of fault. */
  failures: { row: number; email: string | null; fault: 'missing' | 'malformed' }[];
  /** Flips of known contacts, in the order of the file. */
  flips: { email: string; subscribed: boolean }[];
}

/** An audience in memory. */
export type Audience = Map<string, { subscribed: boolean; data: Record<string, string | number | boolean> }>;

/** Imports a CSV text into an audience in memory, one row after the other. */
export function importInMemory(audience: Audience, text: string, emailColumn: string): ImportOutcome {
  const [header = { line: 1, cells: [] }, ...rows] = recordsOf(text.replace(/^\ufeff/, ''));
  const names = header.cells.map((cell) => cell.trim().toLowerCase());
  const outcome: ImportOutcome = {
    totalRows: rows.length,
    createdCount: 0,
    updatedCount: 0,
    unchangedCount: 0,
    failureCount: 0,
    failures: [],
    flips: [],
  };
  for (const { line, cells } of rows) {
    const cell = (name: string) => (cells[names.indexOf(name)] ?? '').trim();
    const written = cell(emailColumn);
    const email = written.toLowerCase();
    const parts = email.split('@');
    const wellFormed =
      parts.length === 2 &&
      /^[a-z0-9_'+.-]+$/.test(parts[0] ?? '') &&
      /^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(parts[1] ?? '');
    if (!wellFormed || /^\.|\.$|\.\./.test(parts[0] ?? '')) {
      outcome.failureCount++;
      outcome.failures.push({
        row: line,
        email: written === '' ? null : written,
        fault: written === '' ? 'missing' : 'malformed',
      });
      continue;
    }
    const said = cell('subscribed').toLowerCase();
    const subscribed = said === '' ? null : ['true', '1', 'yes'].includes(said);
    const data: Record<string, string | number | boolean> = {};
    for (const name of names)
      if (![emailColumn, 'subscribed', 'id', 'email', ''].includes(name) && cell(name) !== '')
        data[name] = typed(cell(name));
    const known = audience.get(email);
    if (known === undefined) {
      audience.set(email, { subscribed: subscribed ?? true, data });
      outcome.createdCount++;
      continue;
    }
    const flips = subscribed !== null && subscribed !== known.subscribed;
    const changes = Object.entries(data).some(([key, value]) => known.data[key] !== value);
    if (flips) outcome.flips.push({ email, subscribed: subscribed as boolean });
    if (flips || changes) outcome.updatedCount++;
    else outcome.unchangedCount++;
    audience.set(email, { subscribed: subscribed ?? known.subscribed, data: { ...known.data, ...data } });
  }
  return outcome;
}

function typed(text: string): string | number | boolean {
  if (/^(true|yes)$/i.test(text)) return true;
  if (/^(false|no)$/i.test(text)) return false;
  return /^-?(0|[1-9][0-9]*)(\.[0-9]+)?$/.test(text) && Math.abs(Number(text)) <= 2 ** 53 - 1 ? Number(text) : text;
}

// One character at a time, with the line that each record begins on.
function recordsOf(text: string): { line: number; cells: string[] }[] {
  const records: { line: number; cells: string[] }[] = [];
  let [line, begun, cells, cell, quoted] = [1, 1, [] as string[], '', false];
  const close = () => {
    cells.push(cell);
    if (cells.length > 1 || cells[0] !== '') records.push({ line: begun, cells });
    [cells, cell, begun] = [[], '', line];
  };
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '\n') line++;
    if (quoted) {
      if (character !== '"') cell += character;
      else if (text[at + 1] === '"') cell += text[at++];
      else quoted = false;
    } else if (character === '"' && cell === '') quoted = true;
    else if (character === ',') {
      cells.push(cell);
      cell = '';
    } else if (character === '\n') close();
    else if (character !== '\r') cell += character;
  }
  if (cell !== '' || cells.length > 0) close();
  return records;
}
