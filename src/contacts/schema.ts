import * as v from 'valibot';
import type { JsonObjectValue } from '../lib/contact-data.ts';
import { CursorParameter } from '../lib/pages.ts';
import { EmailField } from '../lib/validation/email-address.ts';
import {
  choiceParameter,
  directionParameter,
  field,
  Instant,
  Integer,
  JsonObject,
  limitParameter,
  NullableInstant,
  nameSchemas,
  parameter,
  textField,
  Uuid,
} from '../lib/validation/fields.ts';

/** A contact in an answer. */
export const ContactBody = v.object({
  id: field('ID of the contact.', Uuid),
  email: field('Email address of the contact, in lower case.', v.string()),
  subscribed: field('Whether the contact is subscribed to marketing mail.', v.boolean()),
  data: field(
    'Custom fields of the contact, by key.',
    v.record(v.string(), v.unknown()) as unknown as v.GenericSchema<JsonObjectValue, JsonObjectValue>,
  ),
  dataOmitted: v.optional(
    v.pipe(v.literal(true), v.description('The data is too large for this answer: `data` is empty here.')),
  ),
  projectId: field('ID of the project.', Uuid),
  createdAt: field('Time at which the contact was created.', Instant),
  updatedAt: field('Time of the last change of the contact.', Instant),
});
export type ContactBody = v.InferOutput<typeof ContactBody>;

/** `GET /contacts/{id}/holdout`. */
export const ContactHoldout = v.object({
  heldOut: field('Whether the contact is in the control group, which gets no marketing email.', v.boolean()),
  until: field(
    'When the control group ends by itself; null for never, and for contacts outside of it.',
    NullableInstant,
  ),
});
export type ContactHoldout = v.InferOutput<typeof ContactHoldout>;

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
  data: field('Contacts of this page.', v.array(ContactBody)),
  cursor: field('Cursor of the next page; null on the last page.', v.nullable(v.string())),
  hasMore: field('Whether there is another page.', v.boolean()),
  total: field('Number of contacts that match, on all pages.', Integer),
});

/** `POST /contacts`. */
export const UpsertContact = v.object({
  email: field('Email address of the contact, stored in lower case.', EmailField),
  subscribed: field(
    'Whether the contact is subscribed to marketing mail; unchanged when absent.',
    v.optional(v.boolean()),
  ),
  data: field(
    'Custom fields, merged into those of the contact; `null` as a value deletes a key.',
    v.nullish(JsonObject),
  ),
});
export type UpsertContact = v.InferOutput<typeof UpsertContact>;

/** `PATCH /contacts/{id}`; `data: null` clears all data, `reason` is kept with a change of the subscription. */
export const PatchContact = v.object({
  ...v.partial(UpsertContact).entries,
  reason: field(
    'Why the subscription changes; `data.reason` of the event `contact.subscribed` or `contact.unsubscribed`.',
    v.optional(textField('reason', 1, 500)),
  ),
});
export type PatchContact = v.InferOutput<typeof PatchContact>;

/** `POST /contacts/lookup`. */
export const LookupContacts = v.object({
  emails: field(
    '1 to 500 email addresses, in any letter case.',
    v.pipe(
      v.array(v.string('must be a string'), 'must be a non-empty array'),
      v.minLength(1, 'must be a non-empty array'),
      v.maxLength(500, 'must have at most 500 addresses'),
    ),
  ),
});
export type LookupContacts = v.InferOutput<typeof LookupContacts>;

/** The caller's own spellings, in request order, duplicates kept. */
export const LookupResult = v.object({
  found: field('Addresses that belong to a contact, in the spelling and order of the request.', v.array(v.string())),
  notFound: field(
    'Addresses that belong to no contact, in the spelling and order of the request.',
    v.array(v.string()),
  ),
});

nameSchemas({ Contact: ContactBody, ContactPage });
