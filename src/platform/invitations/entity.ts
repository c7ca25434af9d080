import { defineEntity } from '@mikro-orm/core';
import { baseColumns } from '../../core/database/columns.ts';
import { User } from '../accounts/index.ts';
import { ofProject } from '../projects/index.ts';

const p = defineEntity.properties;

/** An address that may join a project by the link of a mail. The row goes when somebody does. */
export const Invitation = defineEntity({
  name: 'Invitation',
  tableName: 'project_invitations',
  properties: {
    id: baseColumns.id,
    projectId: ofProject(),
    email: p.text(),
    role: p.enum(['ADMIN', 'MEMBER'] as const),
    tokenHash: p.blob().unique(),
    invitedBy: p.manyToOne(User).mapToPk().deleteRule('set null').updateRule('no action').nullable(),
    createdAt: baseColumns.createdAt,
    expiresAt: p.datetime(3),
  },
  uniques: [{ name: 'project_invitations_address', properties: ['projectId', 'email'] }],
  indexes: [{ name: 'project_invitations_inviter', properties: ['invitedBy'] }],
});
