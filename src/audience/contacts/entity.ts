import { defineEntity } from '@mikro-orm/core';
import { baseColumns } from '../../core/database/columns.ts';
import { ofProject } from '../../platform/projects/index.ts';
import type { Cause } from './cause.ts';

const p = defineEntity.properties;

/**
 * A recipient. `subscriptionBefore` is the value the last write found, so that an upsert can tell whether it changed the
 * subscription.
 */
export const Contact = defineEntity({
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
    { name: 'contacts_unsubscribed', properties: ['projectId', 'createdAt', 'id'], where: 'NOT subscribed' },
    { name: 'contacts_updated', properties: ['projectId', 'updatedAt'] },
  ],
});

/**
 * A change of a contact that is neither in the catalogue nor in the history yet: `data` of one that was created (sign 1) or deleted
 * (sign -1), or data `before` and `after` (sign 0; `data` is the JSON null). Append-only, without a key; the fold deletes what it has taken.
 */
export const ContactChange = defineEntity({
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
 * A change of a contact: of its data the keys that changed, all of them when it was created (`before` is null then), and none when it
 * was `moved` into the trash or out of it.
 */
export const ContactHistory = defineEntity({
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
    moved: p.enum(['deleted', 'restored']).nullable(),
  },
  indexes: [
    { name: 'contact_history_contact', properties: ['contactId', 'at'] },
    {
      name: 'contact_history_job',
      expression:
        "create index contact_history_job on contact_history (hashtextextended(cause ->> 'id', 0), contact_id) where cause ->> 'type' in ('import', 'bulk', 'undo')",
    },
    { name: 'contact_history_project', properties: ['projectId', 'at'] },
  ],
});

/** How many contacts a project has. */
export const ContactTotal = defineEntity({
  name: 'ContactTotal',
  tableName: 'contact_totals',
  properties: {
    projectId: ofProject().primary().updateRule('no action'),
    contacts: p.integer(),
    subscribed: p.integer(),
  },
});

/**
 * How many contacts hold which kind of value under a key. Keys may be longer than an index entry, hence the hash.
 */
export const ContactField = defineEntity({
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

/** How many contacts hold a value under a key. */
export const ContactFieldValue = defineEntity({
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

/** A project whose catalogue takes no more keys. */
export const FullCatalogue = defineEntity({
  name: 'FullCatalogue',
  tableName: 'full_catalogues',
  properties: {
    projectId: ofProject().primary().updateRule('no action'),
  },
});

/** A contact that was deleted, by a job where that is set, for a week; its mail, its events and its history keep its ID until then. */
export const TrashedContact = defineEntity({
  name: 'TrashedContact',
  tableName: 'contacts_trash',
  properties: {
    id: p.uuid().primary(),
    projectId: p.uuid(),
    jobId: p.text().nullable(),
    deletedAt: p.datetime(3).defaultRaw('now()'),
    email: p.text(),
    subscribed: p.boolean(),
    data: p.json<unknown>(),
    createdAt: p.datetime(3),
    memberships: p.json<unknown>().defaultRaw("'[]'::jsonb"),
  },
  indexes: [
    { name: 'contacts_trash_deleted', properties: ['deletedAt'] },
    { name: 'contacts_trash_email', properties: ['projectId', 'email'] },
    { name: 'contacts_trash_job', properties: ['jobId', 'id'] },
  ],
});
