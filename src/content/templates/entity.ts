import { defineEntity } from '@mikro-orm/core';
import { baseColumns } from '../../core/database/columns.ts';
import { templateTypes } from './schema.ts';

const p = defineEntity.properties;

const TemplateSchema = defineEntity({
  name: 'Template',
  tableName: 'templates',
  properties: {
    ...baseColumns,
    projectId: p.uuid(),
    name: p.text(),
    description: p.text().nullable(),
    subject: p.text(),
    body: p.text(),
    from: p.text(),
    fromName: p.text().nullable(),
    replyTo: p.text().nullable(),
    type: p.enum(templateTypes).default('MARKETING'),
  },
});

/** Content for mail, with a sender and a type that says what recipients may do about it. */
export class Template extends TemplateSchema.class {}
TemplateSchema.setClass(Template);
