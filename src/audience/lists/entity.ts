import { defineEntity } from '@mikro-orm/core';
import { baseColumns } from '../../core/database/columns.ts';
import { ofProject } from '../../platform/projects/index.ts';
import type { FilterBody } from './schema.ts';

const p = defineEntity.properties;

/** A filter, a sort and columns of the list of contacts, under a name that everybody in the project sees. */
export const ContactView = defineEntity({
  name: 'ContactView',
  tableName: 'contact_views',
  properties: {
    ...baseColumns,
    projectId: ofProject(),
    name: p.text(),
    filter: p.json<FilterBody>().defaultRaw("'{}'::jsonb"),
    sort: p.text().default('createdAt'),
    dir: p.text().default('desc'),
    columns: p.json<string[]>().nullable(),
  },
  uniques: [{ name: 'contact_views_name', properties: ['projectId', 'name'] }],
});
