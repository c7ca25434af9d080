import { defineEntity, type InferEntity } from '@mikro-orm/core';
import type { JsonObjectValue } from '../lib/contact-data.ts';
import { ofProject } from '../projects/queries.ts';
import { baseColumns, isoText } from '../store/columns.ts';
import { boundedPage, type WithOmission } from '../store/heavy-reads.ts';
import { type Query, raw } from '../store/sql.ts';
import { mostContactBytes } from './limits.ts';
import type { ContactBody } from './schema.ts';

const p = defineEntity.properties;

/** A recipient. */
export const Contact = defineEntity({
  name: 'Contact',
  tableName: 'contacts',
  properties: {
    ...baseColumns,
    projectId: ofProject(),
    email: p.text(),
    subscribed: p.boolean(),
    data: p.json<unknown>().defaultRaw("'{}'::jsonb"),
  },
  uniques: [{ properties: ['projectId', 'email'] }],
  indexes: [
    { name: 'contacts_created', properties: ['projectId', 'createdAt', 'id'] },
    {
      name: 'contacts_data',
      expression: 'create index contacts_data on contacts using gin (project_id, data jsonb_path_ops)',
    },
    {
      name: 'contacts_email_trigrams',
      expression: 'create index contacts_email_trigrams on contacts using gin (project_id, email gin_trgm_ops)',
    },
    { name: 'contacts_project', properties: ['projectId', 'id'] },
    { name: 'contacts_unsubscribed', properties: ['projectId', 'createdAt', 'id'], where: 'NOT subscribed' },
    { name: 'contacts_updated', properties: ['projectId', 'updatedAt'] },
  ],
});

/** A contact in the trash, with its memberships in segments; that of a job where one has deleted it. */
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
    memberships: p.json<unknown[]>().defaultRaw("'[]'::jsonb"),
  },
  indexes: [
    { name: 'contacts_trash_deleted', properties: ['deletedAt'] },
    { name: 'contacts_trash_email', properties: ['projectId', 'email'] },
    { name: 'contacts_trash_job', properties: ['jobId', 'id'] },
  ],
});
export type TrashedContact = InferEntity<typeof TrashedContact>;

/** A key of contact data, and how many contacts hold which kind of value under it; `texts` includes objects and arrays. */
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
    /** The key has too many distinct values, or too long ones, for them to be listed. */
    openEnded: p.boolean().default(false),
  },
});
export type ContactField = InferEntity<typeof ContactField>;

/** A contact of a list, whose data may be left out. */
export type ListedContact = Omit<ContactBody, 'data' | 'dataOmitted'> & WithOmission<JsonObjectValue>;

/** The columns of a contact, of the alias `c`. */
export const contactColumns = raw(`c.id, c.email, c.subscribed, c.data, c.project_id as "projectId",
  ${isoText('c.created_at')} as "createdAt", ${isoText('c.updated_at')} as "updatedAt"`);

/** SQL of a list of contacts with as much data as an answer may carry; `rows` returns `contactColumns` in order. */
export function contactsWithin(rows: Query): Query {
  return boundedPage(rows, 'id, email, subscribed, "projectId", "createdAt", "updatedAt"', mostContactBytes);
}
