import { defineEntity, type InferEntity } from '@mikro-orm/core';
import { baseColumns } from '../../core/database/columns.ts';
import { ofProject } from '../../platform/projects/index.ts';

const p = defineEntity.properties;

/** A file that templates refer to. */
export const Upload = defineEntity({
  name: 'Upload',
  tableName: 'uploads',
  properties: {
    id: p.uuid().primary(),
    projectId: ofProject(),
    key: p.text(),
    filename: p.text(),
    contentType: p.text(),
    size: p.integer(),
    createdAt: baseColumns.createdAt,
  },
  indexes: [{ name: 'uploads_project', properties: ['projectId', 'id'] }],
});
export type Upload = InferEntity<typeof Upload>;
