import { defineEntity } from '@mikro-orm/core';
import { ofProject } from '../projects/queries.ts';
import { baseColumns } from '../store/columns.ts';

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
