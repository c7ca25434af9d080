import type { Database } from '../../core/database/sql.ts';
import { clampLimit } from '../../core/lib/cursor.ts';
import { bareBadRequest } from '../../core/lib/errors.ts';
import { recordChange } from '../../platform/audit/index.ts';
import { refuseInUse, usesOfField } from '../usage/index.ts';
import {
  bringCatalogueUpToDate,
  contactTotals,
  type FieldCounts,
  type FieldValue,
  fieldCounts,
  fieldCountsOf,
  holders,
  valuesOfKey,
  valuesOfNewestContacts,
} from './catalogue-queries.ts';
import { removeKeyFromSome } from './fields-queries.ts';
import type { FieldBody, FieldType, FieldUsage } from './fields-schema.ts';

const standardFields: readonly FieldBody[] = [
  { field: 'createdAt', type: 'date', isCustom: false, coverage: 100 },
  { field: 'email', type: 'string', isCustom: false, coverage: 100 },
  { field: 'subscribed', type: 'boolean', isCustom: false, coverage: 100 },
  { field: 'updatedAt', type: 'date', isCustom: false, coverage: 100 },
];
const contactsPerSlice = 5_000;

/** The fields of the project's contacts (docs/contract/core.md#3-5): the standard ones, and one for each key of their data. */
export async function listFields(db: Database, projectId: string): Promise<{ fields: FieldBody[]; count: number }> {
  await bringCatalogueUpToDate(db, projectId);
  const [counts, { contacts }] = await Promise.all([fieldCounts(db, projectId), contactTotals(db, projectId)]);
  const custom = counts.map((field) => ({
    field: `data.${field.key}`,
    type: typeOf(field),
    isCustom: true,
    coverage: contacts === 0 ? 0 : Math.round((100 * holders(field)) / contacts),
  }));
  const fields = [...standardFields, ...custom].sort((one, other) => (one.field < other.field ? -1 : 1));
  return { fields, count: fields.length };
}

// One kind among all contacts is the type; where they disagree it is text.
function typeOf(field: FieldCounts): FieldType {
  const kinds: FieldType[] = [];
  if (field.booleans > 0) kinds.push('boolean');
  if (field.numbers > 0) kinds.push('number');
  if (field.dates > 0) kinds.push('date');
  if (field.texts > 0) kinds.push('string');
  return (kinds.length === 1 ? kinds[0] : undefined) ?? 'string';
}

/**
 * Distinct values of a field, ascending by text (docs/contract/core.md#3-5). Exact while a key has at most 1,000 distinct
 * values of at most 200 characters; of others, the values of the newest 5,000 contacts.
 */
export async function listValues(db: Database, projectId: string, field: string, limitText: string | undefined) {
  const limit = clampLimit(limitText, 100, 200);
  const values = await valuesOf(db, projectId, field, limit);
  return { field, values, count: values.length, limit };
}

async function valuesOf(
  db: Database,
  projectId: string,
  field: string,
  limit: number,
): Promise<(string | number | boolean)[]> {
  if (field === 'subscribed') return [true, false].slice(0, limit);
  const key = keyOf(field);
  if (key === null || key.includes('\0')) return [];
  await bringCatalogueUpToDate(db, projectId);
  const counts = await fieldCountsOf(db, projectId, key);
  if (counts === null) return [];
  const read = counts.openEnded ? valuesOfNewestContacts : valuesOfKey;
  return (await read(db, projectId, key, limit)).map(inJsonType);
}

function inJsonType({ kind, value }: FieldValue): string | number | boolean {
  if (kind === 'number') return Number(value);
  return kind === 'boolean' ? value === 'true' : value;
}

/** What uses a field, and how many contacts have a value (docs/contract/core.md#3-5). */
export async function fieldUsage(db: Database, projectId: string, field: string): Promise<FieldUsage> {
  const key = keyOf(field);
  await bringCatalogueUpToDate(db, projectId);
  const { segments, campaigns, workflows } = await usesOfField(db, projectId, key === null ? field : `data.${key}`);
  return {
    usedInSegments: segments,
    usedInCampaigns: campaigns,
    usedInWorkflows: workflows,
    contactCount: key === null ? (await contactTotals(db, projectId)).contacts : await holdersOf(db, projectId, key),
    canDelete: key !== null && segments.length === 0 && campaigns.length === 0 && workflows.length === 0,
  };
}

async function holdersOf(db: Database, projectId: string, key: string): Promise<number> {
  const counts = key.includes('\0') ? null : await fieldCountsOf(db, projectId, key);
  return counts === null ? 0 : holders(counts);
}

/**
 * Removes a key from the data of every contact, a slice of contacts at a time, without events (docs/contract/core.md#3-5).
 * Cut off in the middle, it has removed the key from some; asked again, it removes it from the rest.
 * @throws bare 400 for a standard field and for one that is in use
 */
export async function deleteField(db: Database, projectId: string, field: string): Promise<{ deletedFrom: number }> {
  if (!field.startsWith('data.') || field === 'data.')
    throw bareBadRequest(`"${field}" is no custom field: only fields that begin with "data." can be deleted`);
  const key = field.slice('data.'.length);
  refuseInUse(field, await usesOfField(db, projectId, field));
  if (key.includes('\0')) return { deletedFrom: 0 };
  await bringCatalogueUpToDate(db, projectId);
  if ((await fieldCountsOf(db, projectId, key)) === null) return { deletedFrom: 0 };
  // One entry for all of its transactions, before the first.
  await db.transaction((tx) => recordChange(tx, projectId, { action: 'contact_field.deleted', target: field }));
  let deletedFrom = 0;
  for (let after: string | null = null; ; ) {
    const slice = await removeKeyFromSome(db, projectId, key, after, contactsPerSlice);
    deletedFrom += slice.changed;
    if (slice.last === null) return { deletedFrom };
    after = slice.last;
  }
}

// `data.plan` and `plan` mean the same; null for a standard field.
function keyOf(field: string): string | null {
  if (standardFields.some((standard) => standard.field === field)) return null;
  return field.startsWith('data.') ? field.slice('data.'.length) : field;
}
