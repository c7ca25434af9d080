import type { EmailDocument } from '@fernpost/email-document';
import { defineEntity } from '@mikro-orm/core';
import { baseColumns } from '../../core/database/columns.ts';
import { ofProject } from '../../platform/projects/index.ts';

const p = defineEntity.properties;

/** Blocks that are copied into emails: a mail keeps its own copy when they change. */
export const SavedBlock = defineEntity({
  name: 'SavedBlock',
  tableName: 'saved_blocks',
  properties: {
    ...baseColumns,
    projectId: ofProject(),
    name: p.text(),
    content: p.json<EmailDocument['content']>(),
  },
  uniques: [{ name: 'saved_blocks_name', properties: ['projectId', 'name'] }],
});
