import { field } from '@fernpost/openapi/names';
import { limitParameter } from '@fernpost/validation';
import * as v from 'valibot';

const fieldTypes = ['string', 'number', 'boolean', 'date'] as const;
/** Type of a contact field in `GET /contacts/fields`. */
export type FieldType = (typeof fieldTypes)[number];

/** One contact field; `coverage` is the rounded percentage of contacts that have a value. */
export const FieldBody = v.object({
  field: field('Name of the field: `email`, `subscribed`, `createdAt`, `updatedAt` or `data.<key>`.', v.string()),
  type: field('Type of its values.', v.picklist(fieldTypes)),
  isCustom: field('Whether the field is a key of contact data; false for built-in fields.', v.boolean()),
  coverage: field('Share of contacts with a value, as a whole percentage from 0 to 100.', v.number()),
});
export type FieldBody = v.InferOutput<typeof FieldBody>;

/** The answer of `GET /contacts/fields`. */
export const FieldList = v.object({
  fields: field("Fields of the project's contacts.", v.array(FieldBody)),
  count: field('Number of fields.', v.number()),
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
  count: field('Number of values in this response.', v.number()),
  limit: field('The limit that was applied; there may be further values when `count` reaches it.', v.number()),
});

const Use = v.object({
  id: field('ID of the segment, campaign or workflow.', v.string()),
  name: field('Name of the segment, campaign or workflow.', v.string()),
});

/** What uses a field. */
export const FieldUsage = v.object({
  usedInSegments: field('Segments whose conditions use the field.', v.array(Use)),
  usedInCampaigns: field('Campaigns that use the field.', v.array(Use)),
  usedInWorkflows: field('Workflows that use the field.', v.array(Use)),
  contactCount: field('Number of contacts with a value in the field.', v.number()),
  canDelete: field('Whether the field can be deleted, because nothing uses it.', v.boolean()),
});
export type FieldUsage = v.InferOutput<typeof FieldUsage>;

/** The answer of `DELETE /contacts/fields/{field}`. */
export const FieldDeletion = v.object({
  deletedFrom: field('Number of contacts that the field was removed from.', v.number()),
});
