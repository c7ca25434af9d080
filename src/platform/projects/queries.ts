import { isoInstant } from '../../core/database/columns.ts';
import { type Database, raw, sql } from '../../core/database/sql.ts';
import { type Role, roleIncludes } from '../../core/lib/roles.ts';
import { tryUnseal } from '../../core/lib/seal.ts';
import type { ChangeProject, ProjectRecord, ProjectSummary } from './schema.ts';

type StoredProject = Omit<ProjectRecord, 'public' | 'secret'> & { publicSealed: string; secretSealed: string };

const recordColumns = `p.id, p.name, p.public_key_sealed as "publicSealed", p.secret_key_sealed as "secretSealed", p.disabled,
  p.disabled_reason as "disabledReason", p.customer, p.subscription, p.billing_limit_workflows as "billingLimitWorkflows",
  p.billing_limit_campaigns as "billingLimitCampaigns", p.billing_limit_transactional as "billingLimitTransactional",
  p.billing_limit_inbound as "billingLimitInbound", p.tracking, p.language, p.escape_contact_data as "escapeContactData", p.hide_secret_key as "hideSecretKey", p.created_at::text as "createdAt",
  p.updated_at::text as "updatedAt"`;
const summaryColumns = `p.id, p.name, p.created_at::text as "createdAt",
  (select d.domain from domains d where d.project_id = p.id and d.verified order by d.created_at, d.id limit 1)
    as "defaultSenderDomain"`;

/** Keys that may have sealed the stored ones; setting APP_ENCRYPTION_KEY first. */
export type EncryptionKeys = readonly string[];

/** The project with its keys, or null. A key that none of `encryptionKeys` opens is null. */
export async function projectRecord(
  db: Database,
  id: string,
  encryptionKeys: EncryptionKeys,
): Promise<ProjectRecord | null> {
  const row = await db.row<StoredProject>(
    sql`select ${raw(recordColumns)} from projects p where p.id = ${id} and p.deleted_at is null`,
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
      select ${raw(recordColumns)}, m.role from memberships m join projects p on p.id = m.project_id
        where m.user_id = ${userId} and p.deleted_at is null order by m.created_at, p.id`);
  return rows.map(({ role, ...row }) => {
    const record = recordOf(row, encryptionKeys);
    const isHidden = row.hideSecretKey && !roleIncludes(role, 'ADMIN');
    return { ...record, secret: isHidden ? null : record.secret, role };
  });
}

/** Changes what is given; null when the project is gone. */
export async function changeProject(
  db: Database,
  id: string,
  changes: ChangeProject,
  encryptionKeys: EncryptionKeys,
): Promise<ProjectRecord | null> {
  const { name = null, tracking = null, language = null, escapeContactData = null, hideSecretKey = null } = changes;
  const row = await db.row<StoredProject>(sql`
      update projects p set name = coalesce(${name}, p.name), tracking = coalesce(${tracking}, p.tracking),
          language = coalesce(${language}, p.language), escape_contact_data = coalesce(${escapeContactData}, p.escape_contact_data),
          hide_secret_key = coalesce(${hideSecretKey}, p.hide_secret_key), updated_at = now()
        where p.id = ${id} and p.deleted_at is null returning ${raw(recordColumns)}`);
  return row && recordOf(row, encryptionKeys);
}

/** A pair of keys as the row keeps it. */
export interface StoredKeys {
  publicKeyHash: Buffer;
  secretKeyHash: Buffer;
  publicKeySealed: string;
  secretKeySealed: string;
}

/** Replaces both keys at once; null when the project is gone. */
export async function replaceKeys(
  db: Database,
  id: string,
  keys: StoredKeys,
  encryptionKeys: EncryptionKeys,
): Promise<ProjectRecord | null> {
  const { publicKeyHash, secretKeyHash, publicKeySealed, secretKeySealed } = keys;
  const row = await db.row<StoredProject>(sql`
      update projects p set public_key_hash = ${publicKeyHash}, secret_key_hash = ${secretKeyHash}, public_key_sealed = ${publicKeySealed}, secret_key_sealed = ${secretKeySealed},
          updated_at = now()
        where p.id = ${id} and p.deleted_at is null returning ${raw(recordColumns)}`);
  return row && recordOf(row, encryptionKeys);
}

/** Whether a user is a member of a disabled project. */
export async function isInDisabledProject(db: Database, userId: string): Promise<boolean> {
  return (
    (
      await db.row<{ yes: boolean }>(sql`
      select exists (select from memberships m join projects p on p.id = m.project_id
        where m.user_id = ${userId} and p.disabled and p.deleted_at is null) as yes`)
    )?.yes ?? false
  );
}

/** The short form of a project, or null. */
export async function projectSummary(db: Database, id: string): Promise<ProjectSummary | null> {
  const row = await db.row<ProjectSummary>(
    sql`select ${raw(summaryColumns)} from projects p where p.id = ${id} and p.deleted_at is null`,
  );
  return row && { ...row, createdAt: isoInstant(row.createdAt) };
}

/** The short form of a user's projects, in the order in which they joined them. */
export async function projectSummaries(db: Database, userId: string): Promise<ProjectSummary[]> {
  const rows = await db.rows<ProjectSummary>(sql`
      select ${raw(summaryColumns)} from memberships m join projects p on p.id = m.project_id
        where m.user_id = ${userId} and p.deleted_at is null order by m.created_at, p.id`);
  return rows.map((row) => ({ ...row, createdAt: isoInstant(row.createdAt) }));
}

// Keys that cannot be read any more still work, because they are looked up by their hash; their project must not be lost for that.
function recordOf(
  { publicSealed, secretSealed, ...row }: StoredProject,
  encryptionKeys: EncryptionKeys,
): ProjectRecord {
  const { id, name, ...rest } = row;
  return {
    id,
    name,
    public: tryUnseal(publicSealed, encryptionKeys),
    secret: tryUnseal(secretSealed, encryptionKeys),
    ...rest,
    createdAt: isoInstant(row.createdAt),
    updatedAt: isoInstant(row.updatedAt),
  };
}
