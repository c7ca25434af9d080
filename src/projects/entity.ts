import { defineEntity, type InferEntity } from '@mikro-orm/core';
import { User } from '../accounts/entity.ts';
import { baseColumns } from '../store/columns.ts';
import { publicKeyModes, trackingModes } from './schema.ts';

const p = defineEntity.properties;

/** A tenant: everything else belongs to one. Its keys are found by their hash and stored encrypted. */
export const Project = defineEntity({
  name: 'Project',
  tableName: 'projects',
  properties: {
    ...baseColumns,
    name: p.text(),
    publicKeyHash: p.blob().unique(),
    secretKeyHash: p.blob().unique(),
    publicKeySealed: p.text(),
    secretKeySealed: p.text(),
    trusted: p.boolean().default(true).lazy(),
    disabled: p.boolean().default(false),
    disabledReason: p.enum(['REPUTATION', 'PAYMENT_FAILED', 'CONTENT', 'MANUAL'] as const).nullable(),
    customer: p.text().nullable().lazy(),
    subscription: p.text().nullable().lazy(),
    billingLimitWorkflows: p.integer().nullable().lazy(),
    billingLimitCampaigns: p.integer().nullable().lazy(),
    billingLimitTransactional: p.integer().nullable().lazy(),
    billingLimitInbound: p.integer().nullable().lazy(),
    tracking: p.enum(trackingModes).default('ENABLED'),
    language: p.text().default('en'),
    escapeContactData: p.boolean().default(true),
    sendRate: p.integer().nullable(),
    resetting: p.boolean().default(false).lazy(),
    deletedAt: p.datetime(3).nullable().lazy(),
    hideSecretKey: p.boolean().default(false),
    approvalAbove: p.integer().nullable().lazy(),
    testAddresses: p.array().defaultRaw("'{}'::text[]").lazy(),
    erasureKeySealed: p.text().nullable().lazy(),
    publicKeyMode: p.enum(publicKeyModes).default('contract').lazy(),
    publicKeyRequestsPerMinute: p.integer().default(600).lazy(),
  },
  uniques: [{ name: 'projects_customer', properties: ['customer'], where: 'customer IS NOT NULL' }],
  checks: [
    { name: 'projects_send_rate_check', expression: 'send_rate > 0' },
    { name: 'projects_approval_above_check', expression: 'approval_above >= 0' },
    { name: 'projects_public_key_requests_check', expression: 'public_key_requests_per_minute > 0' },
  ],
});
export type Project = InferEntity<typeof Project>;

/** A column that names the project a row belongs to; rows go with their project. */
export const ofProject = () => p.manyToOne(Project).mapToPk().deleteRule('cascade');

/** What a user may do in a project. */
export const Membership = defineEntity({
  name: 'Membership',
  tableName: 'memberships',
  properties: {
    projectId: p.manyToOne(Project).mapToPk().deleteRule('cascade').primary().updateRule('no action'),
    userId: p.manyToOne(User).mapToPk().deleteRule('cascade').primary().updateRule('no action'),
    role: p.enum(['OWNER', 'ADMIN', 'MEMBER'] as const),
    createdAt: baseColumns.createdAt,
  },
  indexes: [{ name: 'memberships_user', properties: ['userId'] }],
});
