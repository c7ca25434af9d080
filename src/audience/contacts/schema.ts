import { nameSchemas } from '@fernpost/openapi/names';
import {
  choiceParameter,
  directionParameter,
  EmailField,
  Instant,
  JsonObject,
  limitParameter,
  parameter,
  textField,
  Uuid,
} from '@fernpost/validation';
import * as v from 'valibot';
import { CursorParameter } from '../../core/lib/cursor.ts';
import type { JsonObjectValue } from '../../core/lib/json.ts';

/** A contact in an answer. */
export const ContactBody = v.object({
  id: Uuid,
  email: v.string(),
  subscribed: v.boolean(),
  data: v.record(v.string(), v.unknown()) as unknown as v.GenericSchema<JsonObjectValue, JsonObjectValue>,
  dataOmitted: v.optional(
    v.pipe(v.literal(true), v.description('The data is too large for this answer: `data` is empty here.')),
  ),
  projectId: Uuid,
  createdAt: Instant,
  updatedAt: Instant,
});
export type ContactBody = v.InferOutput<typeof ContactBody>;

/** `GET /contacts`; values that are none of the accepted ones are ignored. */
export const ListContacts = v.object({
  limit: limitParameter(20, 100),
  cursor: CursorParameter,
  email: parameter('The contact with exactly this address, in any letter case.'),
  search: parameter('Text in the address, in any letter case.'),
  subscribed: parameter('All when absent.', { type: 'boolean' }),
  sort: choiceParameter('What to sort by.', ['email', 'createdAt', 'updatedAt'], 'createdAt'),
  dir: directionParameter,
});
export type ListContacts = v.InferOutput<typeof ListContacts>;

/** `DELETE /contacts/{id}`. */
export const DeleteContact = v.object({
  restorable: parameter('Whether the contact can be restored for 7 days; `false` when absent.', { type: 'boolean' }),
});

/** A page of contacts. */
export const ContactPage = v.object({
  data: v.array(ContactBody),
  cursor: v.nullable(v.string()),
  hasMore: v.boolean(),
  total: v.number(),
});

/** `POST /contacts`. */
export const UpsertContact = v.object({
  email: EmailField,
  subscribed: v.optional(v.boolean()),
  data: v.nullish(JsonObject),
});
export type UpsertContact = v.InferOutput<typeof UpsertContact>;

/** `PATCH /contacts/{id}`; `data: null` clears all data, `reason` is kept with a change of the subscription. */
export const PatchContact = v.object({
  ...v.partial(UpsertContact).entries,
  reason: v.pipe(
    v.optional(textField('reason', 1, 500)),
    v.description(
      'Why the subscription changes; `data.reason` of the event `contact.subscribed` or `contact.unsubscribed`.',
    ),
  ),
});
export type PatchContact = v.InferOutput<typeof PatchContact>;

/** `POST /contacts/lookup`. */
export const LookupContacts = v.object({
  emails: v.pipe(
    v.array(v.string('must be a string'), 'must be a non-empty array'),
    v.minLength(1, 'must be a non-empty array'),
    v.maxLength(500, 'must have at most 500 addresses'),
  ),
});
export type LookupContacts = v.InferOutput<typeof LookupContacts>;

/** The caller's own spellings, in request order, duplicates kept. */
export const LookupResult = v.object({ found: v.array(v.string()), notFound: v.array(v.string()) });

nameSchemas({ Contact: ContactBody, ContactPage });
