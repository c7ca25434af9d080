import { defineEntity } from '@mikro-orm/core';
import { baseColumns } from '../../core/database/columns.ts';

const p = defineEntity.properties;

/**
 * Mail of the service itself. The content is encrypted, since a link inside may sign somebody in, and removed once the
 * provider has it.
 */
export const SystemMail = defineEntity({
  name: 'SystemMail',
  tableName: 'system_mails',
  properties: {
    ...baseColumns,
    kind: p.text(),
    toAddress: p.text(),
    dedupeKey: p.text().nullable().unique(),
    contentSealed: p.text().nullable(),
    status: p.enum(['PENDING', 'SENT', 'FAILED'] as const).default('PENDING'),
    attempts: p.integer().default(0),
    messageId: p.text().nullable(),
    error: p.text().nullable(),
    sentAt: p.datetime(3).nullable(),
  },
  indexes: [
    { name: 'system_mails_age', properties: ['createdAt'] },
    { name: 'system_mails_pending', properties: ['updatedAt'], where: "status = 'PENDING'" },
  ],
});
