import * as v from 'valibot';
import { bareBadRequest } from '../lib/errors.ts';
import { clampLimit } from '../lib/pages.ts';
import { field, Integer, limitParameter } from '../lib/validation/fields.ts';
import { recordChange } from '../projects/audit/record.ts';
import { type Database, sql } from '../store/sql.ts';
import {
  bringCatalogueUpToDate,
  contactTotals,
  type FieldValue,
  fieldCounts,
  fieldCountsOf,
  holders,
  valuesOfKey,
  valuesOfNewestContacts,
} from './catalogue-queries.ts';
import type { ContactField } from './entity.ts';
import { refuseInUse, usesOfField } from './usage.ts';
import { contactsWritten, writingAs } from './write.ts';

/**
 * Removes a key from those of the next `size` contacts that hold it, in one transaction. Returns how many held it, and
 * the contact after which to go on; null after the last.
 */
async function removeKeyFromSome(
  db: Database,
  projectId: string,
  key: string,
  after: string | null,
  size: number,
): Promise<{ changed: number; last: string | null }> {
  const writing = writingAs(db, 'field');
  const rows = sql`(
    select jsonb_agg(jsonb_build_object('id', id, 'remove', jsonb_build_array(${key}::text))) from slice where holds)`;
  const row = await db.row<{ changed: number; last: string | null }>(sql`
    with slice as materialized (
      select id, data ? ${key}::text as holds from contacts
      where project_id = ${projectId} and id > coalesce(${after}, '00000000-0000-0000-0000-000000000000')::uuid
      order by id limit ${size})
    select (select count(*) filter (where changed) from ${contactsWritten(projectId, rows, writing)})::integer as changed,
      (select id from slice order by id desc limit 1) as last`);
  return row ?? { changed: 0, last: null };
}

const fieldTypes = ['string', 'number', 'boolean', 'date'] as const;
/** Type of a contact field in `GET /contacts/fields`. */
type FieldType = (typeof fieldTypes)[number];

/** One contact field; `coverage` is the rounded percentage of contacts that have a value. */
const FieldBody = v.object({
  field: field('Name of the field: `email`, `subscribed`, `createdAt`, `updatedAt` or `data.<key>`.', v.string()),
  type: field('Type of its values.', v.picklist(fieldTypes)),
  isCustom: field('Whether the field is a key of contact data; false for built-in fields.', v.boolean()),
  coverage: field('Share of contacts with a value, as a whole percentage from 0 to 100.', Integer),
});
type FieldBody = v.InferOutput<typeof FieldBody>;

/** The answer of `GET /contacts/fields`. */
export const FieldList = v.object({
  fields: field("Fields of the project's contacts.", v.array(FieldBody)),
  count: field('Number of fields.', Integer),
});

/** `GET /contacts/fields/{field}/values`. */
export const ListValues = v.object({ limit: limitParameter(100, 200) });

/** Distinct values of a field, in their stored JSON type, ascending by text. */
export const ValueList = v.object({
  field: field('Name of the field, as in the request.', v.string()),
  values: field(
    'Distinct values in their stored JSON type, in ascending order of their text.',
    v.array(v.union([v.string(), v.number(), v.boolean()])),
  ),
  count: field('Number of values in this response.', Integer),
  limit: field('The limit that was applied; there may be further values when `count` reaches it.', Integer),
});

const Use = v.object({
  id: field('ID of the segment, campaign or workflow.', v.string()),
  name: field('Name of the segment, campaign or workflow.', v.string()),
});

/** Everything that uses a field, and how many contacts have a value. */
export const FieldUsage = v.object({
  usedInSegments: field('Segments whose conditions use the field.', v.array(Use)),
  usedInCampaigns: field('Campaigns that use the field.', v.array(Use)),
  usedInWorkflows: field('Workflows that use the field.', v.array(Use)),
  contactCount: field('Number of contacts with a value in the field.', Integer),
  canDelete: field('Whether the field can be deleted, because nothing uses it.', v.boolean()),
});
export type FieldUsage = v.InferOutput<typeof FieldUsage>;

/** The answer of `DELETE /contacts/fields/{field}`. */
export const FieldDeletion = v.object({
  deletedFrom: field('Number of contacts that the field was removed from.', Integer),
});

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
function typeOf(field: ContactField): FieldType {
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

/** Returns everything that uses a field, and how many contacts have a value (docs/contract/core.md#3-5). */
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
