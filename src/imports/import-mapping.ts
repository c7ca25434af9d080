import { plainName } from '@fernpost/renderer';
import * as v from 'valibot';
import { parseIsoDate } from '../lib/conditions/dates.ts';
import { type JsonValue, longestKey, reservedKeys } from '../lib/contact-data.ts';
import { choice, JsonObject } from '../lib/validation/fields.ts';

/** The types of cells of a column. `auto` reads them as an import without a mapping does. */
export const cellTypes = ['auto', 'text', 'number', 'boolean', 'date'] as const;
export type CellType = (typeof cellTypes)[number];

const reserved = new Set([...reservedKeys, 'createdAt', 'updatedAt'].map((key) => key.toLowerCase()));
const Target = v.pipe(
  v.string('must name a field'),
  v.maxLength(longestKey + 'data.'.length, `must have at most ${longestKey} characters`),
  v.check(
    (field) =>
      field === 'email' ||
      field === 'subscribed' ||
      (/^data\../s.test(field) && !reserved.has(keyOf(field).toLowerCase())),
    'must be email, subscribed or data.<key> with a key that is not reserved',
  ),
  v.check((field) => !field.includes('\0'), 'must not contain the character U+0000'),
);
const Column = v.object({
  field: Target,
  type: v.optional(choice(cellTypes), 'auto'),
});

/** The field that each column of a file is imported into, by the name of the column in any letter case; null skips it. */
export const ImportMapping = v.pipe(
  JsonObject,
  v.record(
    v.string(),
    v.nullable(
      v.union([
        v.pipe(
          Target,
          v.transform((field) => ({ field, type: 'auto' as const })),
        ),
        Column,
      ]),
    ),
  ),
  v.check((mapping) => Object.keys(mapping).length <= 1_000, 'must name at most 1000 columns'),
  v.transform((mapping) => Object.fromEntries(Object.entries(mapping).map(([name, to]) => [nameOf(name), to]))),
);
export type ImportMapping = v.InferOutput<typeof ImportMapping>;

/** A header as mappings and imports compare it. */
export function nameOf(header: string): string {
  return header.trim().toLowerCase();
}

/** The key of contact data that a field names. */
export function keyOf(field: string): string {
  return field.slice('data.'.length);
}

/** Why a cell could not be read, as it continues a sentence that begins with the name of the column. */
export interface CellProblem {
  problem: string;
}

/** Reads a cell that is not empty as the type of its column. */
export function readCell(text: string, type: CellType): JsonValue | CellProblem {
  switch (type) {
    case 'auto':
      return guessed(text);
    case 'text':
      return text;
    case 'number':
      return plainNumber(text) ?? { problem: 'is not a number' };
    case 'boolean':
      return /^(true|yes|1)$/i.test(text)
        ? true
        : /^(false|no|0)$/i.test(text)
          ? false
          : { problem: 'is not yes or no' };
    case 'date':
      return parseIsoDate(text) === null ? { problem: 'is not a date like 2026-11-30' } : text;
  }
}

/** Whether a cell could not be read. */
export function isProblem(value: JsonValue | CellProblem): value is CellProblem {
  return typeof value === 'object' && value !== null && 'problem' in value;
}

function guessed(text: string): string | number | boolean {
  if (text.length <= 5) {
    const word = text.toLowerCase();
    if (word === 'true' || word === 'yes') return true;
    if (word === 'false' || word === 'no') return false;
  }
  return plainNumber(text) ?? text;
}

// Numbers are only what every spreadsheet writes the same way: `007`, `+4`, `1e5` and `1,5` stay text, and so do
// integers that a double would round.
function plainNumber(text: string): number | null {
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text)) return null;
  const number = Number(text);
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER ? number : null;
}

/**
 * A mapping that also names the columns of a header that it left out: one that differs from a field of the project's contacts in case,
 * spaces and underscores only becomes that field, and any other keeps its case. Where two fields match, the one that is spelled in
 * lower case is meant, as in an import without matching. `columns` are those with data of contacts, `fields` the keys that contacts have.
 */
export function matchColumns(
  columns: readonly string[],
  mapping: ImportMapping,
  fields: readonly string[],
): ImportMapping {
  const exact = new Set(fields);
  const similar = new Map<string, string[]>();
  for (const field of fields) similar.set(plainName(field), [...(similar.get(plainName(field)) ?? []), field]);
  const keyFor = (column: string) => {
    if (exact.has(column)) return column;
    const found = similar.get(plainName(column)) ?? [];
    return found.length > 1 ? nameOf(column) : (found[0] ?? column);
  };
  const matched = columns
    .map((cell) => cell.trim())
    .filter((column) => !Object.hasOwn(mapping, nameOf(column)))
    .map((column) => [nameOf(column), { field: `data.${keyFor(column)}`, type: 'auto' as const }]);
  return { ...mapping, ...Object.fromEntries(matched) };
}
