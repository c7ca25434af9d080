import { defineEntity } from '@mikro-orm/core';
import { baseColumns } from '../../core/database/columns.ts';
import { ofProject } from '../../platform/projects/index.ts';
import type { Cause } from './cause.ts';

const p = defineEntity.properties;

const ContactSchema = defineEntity({
  name: 'Contact',
  tableName: 'contacts',
  properties: {
    ...baseColumns,
    projectId: ofProject(),
    email: p.text(),
    subscribed: p.boolean(),
    subscriptionBefore: p.boolean(),
    data: p.json<unknown>().defaultRaw("'{}'::jsonb"),
  },
  uniques: [{ properties: ['projectId', 'email'] }],
  indexes: [
    { name: 'contacts_created', properties: ['projectId', 'createdAt', 'id'] },
    { name: 'contacts_data', expression: 'create index contacts_data on contacts using gin (data jsonb_path_ops)' },
    {
      name: 'contacts_email_trigrams',
      expression: 'create index contacts_email_trigrams on contacts using gin (email gin_trgm_ops)',
    },
    { name: 'contacts_project', properties: ['projectId', 'id'] },
    { name: 'contacts_updated', properties: ['projectId', 'updatedAt'] },
  ],
});

/**
 * A recipient. `subscriptionBefore` is the value the last write found, so that an upsert can tell whether it changed the
 * subscription.
 */
export class Contact extends ContactSchema.class {}
ContactSchema.setClass(Contact);

const ContactChangeSchema = defineEntity({
  name: 'ContactChange',
  tableName: 'contact_changes',
  properties: {
    projectId: p.uuid().primary(),
    data: p.json<unknown>().primary(),
    subscribed: p.boolean().primary(),
    sign: p.smallint().primary(),
    contactId: p.uuid().nullable(),
    at: p.datetime(6).nullable(),
    cause: p.text().nullable(),
    before: p.json<unknown>().nullable(),
    after: p.json<unknown>().nullable(),
    subscribedBefore: p.boolean().nullable(),
    emailBefore: p.text().nullable(),
    emailAfter: p.text().nullable(),
  },
  indexes: [{ name: 'contact_changes_project', properties: ['projectId'] }],
});

/**
 * A change of a contact that is neither in the catalogue nor in the history yet: `data` of one that was created (sign 1) or deleted
 * (sign -1), or data `before` and `after` (sign 0; `data` is the JSON null). Append-only, without a key; the fold deletes what it has taken.
 */
export class ContactChange extends ContactChangeSchema.class {}
ContactChangeSchema.setClass(ContactChange);

const ContactHistorySchema = defineEntity({
  name: 'ContactHistory',
  tableName: 'contact_history',
  properties: {
    contactId: p.uuid().primary(),
    at: p.datetime(6).primary(),
    projectId: p.uuid(),
    cause: p.json<Cause>(),
    before: p.json<unknown>().nullable(),
    after: p.json<unknown>(),
    subscribedBefore: p.boolean().nullable(),
    subscribedAfter: p.boolean(),
    emailBefore: p.text().nullable(),
    emailAfter: p.text().nullable(),
  },
  indexes: [
    { name: 'contact_history_contact', properties: ['contactId', 'at'] },
    { name: 'contact_history_project', properties: ['projectId', 'at'] },
  ],
});

/** A change of a contact: of its data the keys that changed, all of them when it was created (`before` is null then). */
export class ContactHistory extends ContactHistorySchema.class {}
ContactHistorySchema.setClass(ContactHistory);

const ContactTotalSchema = defineEntity({
  name: 'ContactTotal',
  tableName: 'contact_totals',
  properties: {
    projectId: ofProject().primary().updateRule('no action'),
    contacts: p.integer(),
    subscribed: p.integer(),
  },
});

/** How many contacts a project has. */
export class ContactTotal extends ContactTotalSchema.class {}
ContactTotalSchema.setClass(ContactTotal);

const ContactFieldSchema = defineEntity({
  name: 'ContactField',
  tableName: 'contact_fields',
  properties: {
    projectId: ofProject().primary().updateRule('no action'),
    keyHash: p.uuid().primary(),
    key: p.text(),
    booleans: p.integer().default(0),
    numbers: p.integer().default(0),
    dates: p.integer().default(0),
    texts: p.integer().default(0),
    nulls: p.integer().default(0),
    openEnded: p.boolean().default(false),
  },
});

/**
 * How many contacts hold which kind of value under a key. Keys may be longer than an index entry, hence the hash.
 */
export class ContactField extends ContactFieldSchema.class {}
ContactFieldSchema.setClass(ContactField);

const ContactFieldValueSchema = defineEntity({
  name: 'ContactFieldValue',
  tableName: 'contact_field_values',
  properties: {
    field: p
      .manyToOne(ContactField)
      .joinColumns('project_id', 'key_hash')
      .primary()
      .mapToPk()
      .updateRule('no action')
      .deleteRule('cascade'),
    kind: p.enum(['boolean', 'number', 'string'] as const).primary(),
    value: p.text().primary(),
    contacts: p.integer(),
  },
});

/** How many contacts hold a value under a key. */
export class ContactFieldValue extends ContactFieldValueSchema.class {}
ContactFieldValueSchema.setClass(ContactFieldValue);

const FullCatalogueSchema = defineEntity({
  name: 'FullCatalogue',
  tableName: 'full_catalogues',
  properties: {
    projectId: ofProject().primary().updateRule('no action'),
  },
});

/** A project whose catalogue takes no more keys. */
export class FullCatalogue extends FullCatalogueSchema.class {}
FullCatalogueSchema.setClass(FullCatalogue);
