import { defineEntity, type InferEntity } from '@mikro-orm/core';
import { ofProject } from '../../projects/entity.ts';
import { baseColumns } from '../../store/columns.ts';
import { suppressionKinds } from './schema.ts';

const p = defineEntity.properties;

/** A pattern of addresses that a project does not write to. */
export const SuppressionRule = defineEntity({
  name: 'SuppressionRule',
  tableName: 'suppression_rules',
  properties: {
    ...baseColumns,
    projectId: ofProject(),
    name: p.text(),
    kind: p.enum(suppressionKinds),
    pattern: p.text(),
    enabled: p.boolean().default(true),
  },
  indexes: [{ name: 'suppression_rules_project', properties: ['projectId', 'createdAt', 'id'] }],
});
export type SuppressionRule = InferEntity<typeof SuppressionRule>;
