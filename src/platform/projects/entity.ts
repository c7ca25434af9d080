import { defineEntity } from '@mikro-orm/core';
import { baseColumns } from '../../core/database/columns.ts';

const p = defineEntity.properties;
const disabledReasons = ['REPUTATION', 'PAYMENT_FAILED', 'CONTENT', 'MANUAL'] as const;
const trackingModes = ['ENABLED', 'DISABLED', 'MARKETING_ONLY'] as const;

const ProjectSchema = defineEntity({
  name: 'Project',
  tableName: 'projects',
  properties: {
    ...baseColumns,
    name: p.text(),
    publicKeyHash: p.blob(),
    secretKeyHash: p.blob(),
    publicKeySealed: p.text(),
    secretKeySealed: p.text(),
    disabled: p.boolean().default(false),
    disabledReason: p.enum(disabledReasons).nullable(),
    tracking: p.enum(trackingModes).default('ENABLED'),
    language: p.text().default('en'),
    escapeContactData: p.boolean().default(true),
    hideSecretKey: p.boolean().default(false),
    sendRate: p.integer().nullable(),
  },
});

/** A tenant: everything else belongs to one. Its keys are found by their hash and stored encrypted. */
export class Project extends ProjectSchema.class {}
ProjectSchema.setClass(Project);

const MembershipSchema = defineEntity({
  name: 'Membership',
  tableName: 'memberships',
  properties: {
    projectId: p.uuid().primary(),
    userId: p.uuid().primary(),
    role: p.enum(['OWNER', 'ADMIN', 'MEMBER'] as const),
    createdAt: p.datetime(3).onCreate(() => new Date()),
  },
});

/** What a user may do in a project. */
export class Membership extends MembershipSchema.class {}
MembershipSchema.setClass(Membership);
