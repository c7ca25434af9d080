import { defineEntity } from '@mikro-orm/core';
import { baseColumns } from '../../core/database/columns.ts';
import { ofProject } from '../../platform/projects/index.ts';

const p = defineEntity.properties;

/**
 * An address that was erased, as a keyed hash. Imports never bring it back; while it is `suppressed`, no request stores it or sends
 * to it either.
 */
export const ErasedAddress = defineEntity({
  name: 'ErasedAddress',
  tableName: 'erased_addresses',
  properties: {
    projectId: ofProject().primary().updateRule('no action'),
    subject: p.text().primary(),
    suppressed: p.boolean(),
    createdAt: baseColumns.createdAt,
  },
});
