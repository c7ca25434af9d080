import type { EmailDocument } from '@fernpost/email-document';
import { defineEntity, type InferEntity } from '@mikro-orm/core';
import { ofProject } from '../projects/entity.ts';
import { baseColumns } from '../store/columns.ts';
import { templateTypes } from './schema.ts';

const p = defineEntity.properties;

/** What templates and campaigns are made of. */
export const contentColumns = {
  name: p.text(),
  description: p.text().nullable(),
  subject: p.text(),
  body: p.text(),
  document: p.json<EmailDocument>().nullable(),
  from: p.text(),
  fromName: p.text().nullable(),
  replyTo: p.text().nullable(),
  type: p.enum(templateTypes).default('MARKETING'),
};

/** Content for mail, with a sender and a type that says what recipients may do about it. */
export const Template = defineEntity({
  name: 'Template',
  tableName: 'templates',
  properties: {
    ...baseColumns,
    projectId: ofProject(),
    ...contentColumns,
    revision: p.integer().default(1).version(),
  },
  indexes: [
    {
      name: 'templates_project',
      columns: [{ name: 'project_id' }, { name: 'created_at', sort: 'desc' }, { name: 'id' }],
    },
  ],
});
export type Template = InferEntity<typeof Template>;
