import type { Brand } from '@fernpost/email-document';
import { defineEntity } from '@mikro-orm/core';
import { baseColumns } from '../../core/database/columns.ts';
import { ofProject } from '../../platform/projects/index.ts';

const p = defineEntity.properties;

/** How the emails of a project look that are written as blocks; a project without a row has the plain kit. */
export const ProjectBrand = defineEntity({
  name: 'Brand',
  tableName: 'brands',
  properties: {
    projectId: ofProject().primary().updateRule('no action'),
    kit: p.json<Brand>(),
    updatedAt: baseColumns.updatedAt,
  },
});
