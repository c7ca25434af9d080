import { defineEntity } from '@mikro-orm/core';
import { baseColumns } from '../../core/database/columns.ts';
import { ofProject } from '../../platform/projects/index.ts';

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
  },
  indexes: [{ name: 'contact_changes_project', properties: ['projectId'] }],
});

/**
 * Data of a contact to add to the catalogue (sign 1) or to take from it (sign -1). Append-only, without a key; the fold
 * deletes what it has counted.
 */
export class ContactChange extends ContactChangeSchema.class {}
ContactChangeSchema.setClass(ContactChange);

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
