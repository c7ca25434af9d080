import { defineEntity, type EntityData, type InferEntity } from '@mikro-orm/core';
import { User } from '../accounts/entity.ts';
import { type Role, roleIncludes } from '../lib/enums.ts';
import { tryUnseal } from '../lib/seal.ts';
import { baseColumns, isoInstant, lockRow } from '../store/columns.ts';
import { type Database, raw, sql } from '../store/sql.ts';
import {
  type Holdout,
  type ProjectRecord,
  type ProjectSummary,
  publicKeyModes,
  type QuietHours,
  trackingModes,
} from './schema.ts';

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
    timeZone: p.text().nullable().lazy(),
    quietHours: p.json<QuietHours>().nullable().lazy(),
    /** When they or the time zone were changed; null once what waits for their end was asked again (campaigns/delivery/held.ts). */
    quietChangedAt: p.datetime(3).nullable().lazy(),
    emailRetentionDays: p.integer().nullable().lazy(),
    eventRetentionDays: p.integer().nullable().lazy(),
    executionRetentionDays: p.integer().nullable().lazy(),
    holdout: p.json<Holdout>().nullable().lazy(),
    testAddresses: p.array().defaultRaw("'{}'::text[]").lazy(),
    erasureKeySealed: p.text().nullable().lazy(),
    publicKeyMode: p.enum(publicKeyModes).default('contract').lazy(),
    publicKeyRequestsPerMinute: p.integer().default(600).lazy(),
  },
  uniques: [{ name: 'projects_customer', properties: ['customer'], where: 'customer IS NOT NULL' }],
  indexes: [{ name: 'projects_quiet_changed', properties: ['quietChangedAt'], where: 'quiet_changed_at IS NOT NULL' }],
  checks: [
    { name: 'projects_send_rate_check', expression: 'send_rate > 0' },
    { name: 'projects_approval_above_check', expression: 'approval_above >= 0' },
    { name: 'projects_public_key_requests_check', expression: 'public_key_requests_per_minute > 0' },
  ],
});
export type Project = InferEntity<typeof Project>;

/** A column that names the project a row belongs to; rows go with their project. */
export const ofProject = () => p.manyToOne(Project).mapToPk().deleteRule('cascade');

/** The role of a user in a project. */
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

/** Categories of usage (docs/contract/platform.md#6-7). */
export const usageCategories = ['WORKFLOW', 'CAMPAIGN', 'TRANSACTIONAL', 'INBOUND'] as const;
export type UsageCategory = (typeof usageCategories)[number];

/** The limits of a project, as its row says. */
export interface ProjectBilling {
  /** Whether an operator vouches for it: it has no daily limit. */
  trusted: boolean;
  /** Whether it pays by a subscription. */
  subscribed: boolean;
  /** Mails a month for each category; null for no limit. */
  limits: Record<UsageCategory, number | null>;
}

/** Columns of `projects` as a `ProjectBilling`. */
export const billingColumns = (
  alias: string,
) => `jsonb_build_object('trusted', ${alias}.trusted, 'subscribed', ${alias}.subscription is not null,
  'limits', jsonb_build_object('WORKFLOW', ${alias}.billing_limit_workflows, 'CAMPAIGN', ${alias}.billing_limit_campaigns,
    'TRANSACTIONAL', ${alias}.billing_limit_transactional, 'INBOUND', ${alias}.billing_limit_inbound))`;

/** The properties of `Project` that a `ProjectBilling` is made from. */
export const billingFields = [
  'trusted',
  'subscription',
  'billingLimitWorkflows',
  'billingLimitCampaigns',
  'billingLimitTransactional',
  'billingLimitInbound',
] as const;

/** The limits of a project, of which `billingFields` are loaded. */
export function billingOf(project: Pick<Project, (typeof billingFields)[number]>): ProjectBilling {
  return {
    trusted: project.trusted,
    subscribed: project.subscription != null,
    limits: {
      WORKFLOW: project.billingLimitWorkflows ?? null,
      CAMPAIGN: project.billingLimitCampaigns ?? null,
      TRANSACTIONAL: project.billingLimitTransactional ?? null,
      INBOUND: project.billingLimitInbound ?? null,
    },
  };
}

type StoredProject = Omit<ProjectRecord, 'public' | 'secret'> & { publicSealed: string; secretSealed: string };

const recordColumns =
  raw(`p.id, p.name, p.public_key_sealed as "publicSealed", p.secret_key_sealed as "secretSealed", p.disabled,
  p.disabled_reason as "disabledReason", p.customer, p.subscription, p.billing_limit_workflows as "billingLimitWorkflows",
  p.billing_limit_campaigns as "billingLimitCampaigns", p.billing_limit_transactional as "billingLimitTransactional",
  p.billing_limit_inbound as "billingLimitInbound", p.tracking, p.language, p.escape_contact_data as "escapeContactData",
  p.hide_secret_key as "hideSecretKey", p.approval_above as "approvalAbove", p.time_zone as "timeZone", p.quiet_hours as "quietHours",
  p.email_retention_days as "emailRetentionDays", p.event_retention_days as "eventRetentionDays", p.execution_retention_days as "executionRetentionDays",
  p.test_addresses as "testAddresses",
  p.public_key_mode as "publicKeyMode", p.public_key_requests_per_minute as "publicKeyRequestsPerMinute", p.created_at::text as "createdAt", p.updated_at::text as "updatedAt"`);

/** Keys that may have sealed the stored ones; setting APP_ENCRYPTION_KEY first. */
export type EncryptionKeys = readonly string[];

/** The project with its keys, or null. A key that none of `encryptionKeys` opens is null. */
export async function projectRecord(
  db: Database,
  id: string,
  encryptionKeys: EncryptionKeys,
): Promise<ProjectRecord | null> {
  const row = await db.row<StoredProject>(
    sql`select ${recordColumns} from projects p where p.id = ${id} and p.deleted_at is null`,
  );
  return row && recordOf(row, encryptionKeys);
}

/**
 * The projects of a user with their role, in the order in which they joined them. The secret key is null for a MEMBER
 * where the project hides it.
 */
export async function projectsOfUser(
  db: Database,
  userId: string,
  encryptionKeys: EncryptionKeys,
): Promise<(ProjectRecord & { role: Role })[]> {
  const rows = await db.rows<StoredProject & { role: Role }>(sql`
      select ${recordColumns}, m.role from memberships m join projects p on p.id = m.project_id
        where m.user_id = ${userId} and p.deleted_at is null order by m.created_at, p.id`);
  return rows.map(({ role, ...row }) => {
    const record = recordOf(row, encryptionKeys);
    const isHidden = row.hideSecretKey && !roleIncludes(role, 'ADMIN');
    return { ...record, secret: isHidden ? null : record.secret, role };
  });
}

/** Changes columns of a project; null when it is gone. */
export async function changeProject(
  db: Database,
  id: string,
  changes: EntityData<Project>,
  encryptionKeys: EncryptionKeys,
): Promise<ProjectRecord | null> {
  await db.em.nativeUpdate(Project, { id, deletedAt: null }, { ...changes, updatedAt: new Date() });
  return projectRecord(db, id, encryptionKeys);
}

/** Locks a project until the transaction ends, so that requests that count its rows do so one after the other. Returns as `lockRow` does. */
export function lockProject(tx: Database, id: string, wait = true): Promise<boolean> {
  return lockRow(tx, 'projects', id, wait);
}

/** Returns how many projects of a user fit, with `role` those in which they have that. */
export async function countProjects(
  db: Database,
  userId: string,
  which: Partial<Pick<Project, 'disabled' | 'trusted'>>,
  role?: Role,
): Promise<number> {
  const memberships = await db.em.find(Membership, { userId, ...(role && { role }) });
  const ids = memberships.map(({ projectId }) => projectId);
  return db.em.count(Project, { id: { $in: ids }, deletedAt: null, ...which });
}

/**
 * Whether a project that a user creates is trusted: an operator made their account or a project of theirs, approved one, or
 * they belong to one that is trusted.
 */
export async function createsTrusted(db: Database, userId: string): Promise<boolean> {
  const user = await db.em.findOne(User, { id: userId }, { fields: ['selfRegistered'] });
  return user !== null && (!user.selfRegistered || (await countProjects(db, userId, { trusted: true })) > 0);
}

/** The short form of a project, or null. */
export async function projectSummary(db: Database, id: string): Promise<ProjectSummary | null> {
  const [summary] = await summariesOf(db, [id]);
  return summary ?? null;
}

/** The short form of a user's projects, in the order in which they joined them. */
export async function projectSummaries(db: Database, userId: string): Promise<ProjectSummary[]> {
  const joined = await db.em.find(Membership, { userId }, { orderBy: { createdAt: 'asc', projectId: 'asc' } });
  const ids = joined.map(({ projectId }) => projectId);
  return summariesOf(db, ids);
}

async function summariesOf(db: Database, ids: readonly string[]): Promise<ProjectSummary[]> {
  const rows = await db.rows<ProjectSummary>(sql`
    select p.id, p.name, p.created_at::text as "createdAt", (
        select d.domain from domains d where d.project_id = p.id and d.verified and d.approved order by d.created_at, d.id limit 1
      ) as "defaultSenderDomain"
    from projects p where p.id = any(${ids}::uuid[]) and p.deleted_at is null order by array_position(${ids}::uuid[], p.id)`);
  return rows.map((row) => ({ ...row, createdAt: isoInstant(row.createdAt) }));
}

// Keys that cannot be read any more still work, because they are looked up by their hash; their project must not be lost for that.
function recordOf({ publicSealed, secretSealed, ...row }: StoredProject, keys: EncryptionKeys): ProjectRecord {
  const { id, name, ...rest } = row;
  const [publicKey, secret] = [tryUnseal(publicSealed, keys), tryUnseal(secretSealed, keys)];
  const [createdAt, updatedAt] = [isoInstant(row.createdAt), isoInstant(row.updatedAt)];
  return { id, name, public: publicKey, secret, ...rest, createdAt, updatedAt };
}
