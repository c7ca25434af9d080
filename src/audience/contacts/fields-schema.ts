import { limitParameter } from '@fernpost/validation';
import * as v from 'valibot';

const fieldTypes = ['string', 'number', 'boolean', 'date'] as const;
/** Type of a contact field in `GET /contacts/fields`. */
export type FieldType = (typeof fieldTypes)[number];

/** One contact field; `coverage` is the rounded percentage of contacts that have a value. */
export const FieldBody = v.object({
  field: v.string(),
  type: v.picklist(fieldTypes),
  isCustom: v.boolean(),
  coverage: v.number(),
});
export type FieldBody = v.InferOutput<typeof FieldBody>;

/** The answer of `GET /contacts/fields`. */
export const FieldList = v.object({ fields: v.array(FieldBody), count: v.number() });

/** `GET /contacts/fields/{field}/values`. */
export const ListValues = v.object({ limit: limitParameter(100, 200) });

/** Distinct values of a field, in their stored JSON type, ascending by text. */
export const ValueList = v.object({
  field: v.string(),
  values: v.array(v.union([v.string(), v.number(), v.boolean()])),
  count: v.number(),
  limit: v.number(),
});

const Use = v.object({ id: v.string(), name: v.string() });

/** What uses a field. */
export const FieldUsage = v.object({
  usedInSegments: v.array(Use),
  usedInCampaigns: v.array(Use),
  usedInWorkflows: v.array(Use),
  contactCount: v.number(),
  canDelete: v.boolean(),
});
export type FieldUsage = v.InferOutput<typeof FieldUsage>;

/** The answer of `DELETE /contacts/fields/{field}`. */
export const FieldDeletion = v.object({ deletedFrom: v.number() });
