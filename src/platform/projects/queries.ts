import { isoInstant } from '../../core/database/columns.ts';
import { type Sql, statement } from '../../core/database/sql.ts';
import { type Role, roleIncludes } from '../../core/lib/roles.ts';
import { tryUnseal } from '../../core/lib/seal.ts';
import type { ChangeProject, ProjectRecord, ProjectSummary } from './schema.ts';

type StoredProject = Omit<ProjectRecord, 'public' | 'secret'> & { publicSealed: string; secretSealed: string };

const recordColumns = `p.id, p.name, p.public_key_sealed as "publicSealed", p.secret_key_sealed as "secretSealed", p.disabled,
  p.disabled_reason as "disabledReason", p.customer, p.subscription, p.billing_limit_workflows as "billingLimitWorkflows",
  p.billing_limit_campaigns as "billingLimitCampaigns", p.billing_limit_transactional as "billingLimitTransactional",
  p.billing_limit_inbound as "billingLimitInbound", p.tracking, p.language, p.escape_contact_data as "escapeContactData", p.hide_secret_key as "hideSecretKey", p.created_at::text as "createdAt",
  p.updated_at::text as "updatedAt"`;
const byId = statement(
  'projects.record',
  `select ${recordColumns} from projects p where p.id = $1 and p.deleted_at is null`,
);
const ofUser = statement(
  'projects.of_user',
  `select ${recordColumns}, m.role from memberships m join projects p on p.id = m.project_id
   where m.user_id = $1 and p.deleted_at is null order by m.created_at, p.id`,
);
const change = statement(
  'projects.change',
  `update projects p set name = coalesce($2, p.name), tracking = coalesce($3, p.tracking),
     language = coalesce($4, p.language), escape_contact_data = coalesce($5, p.escape_contact_data),
     hide_secret_key = coalesce($6, p.hide_secret_key), updated_at = now()
   where p.id = $1 and p.deleted_at is null returning ${recordColumns}`,
);
const rotate = statement(
  'projects.rotate_keys',
  `update projects p set public_key_hash = $2, secret_key_hash = $3, public_key_sealed = $4, secret_key_sealed = $5,
     updated_at = now()
   where p.id = $1 and p.deleted_at is null returning ${recordColumns}`,
);
const inDisabled = statement(
  'projects.member_of_disabled',
  `select exists (select from memberships m join projects p on p.id = m.project_id
     where m.user_id = $1 and p.disabled and p.deleted_at is null) as yes`,
);
const summaryColumns = `p.id, p.name, p.created_at::text as "createdAt",
  (select d.domain from domains d where d.project_id = p.id and d.verified order by d.created_at, d.id limit 1)
    as "defaultSenderDomain"`;
const summary = statement(
  'projects.summary',
  `select ${summaryColumns} from projects p where p.id = $1 and p.deleted_at is null`,
);
const summaries = statement(
  'projects.summaries',
  `select ${summaryColumns} from memberships m join projects p on p.id = m.project_id
   where m.user_id = $1 and p.deleted_at is null order by m.created_at, p.id`,
);

/** Keys that may have sealed the stored ones; setting APP_ENCRYPTION_KEY first. */
export type EncryptionKeys = readonly string[];

/** The project with its keys, or null. A key that none of `encryptionKeys` opens is null. */
export async function projectRecord(
  sql: Sql,
  id: string,
  encryptionKeys: EncryptionKeys,
): Promise<ProjectRecord | null> {
  const row = await sql.row<StoredProject>(byId, [id]);
  return row && recordOf(row, encryptionKeys);
}

/**
 * The projects of a user with their role, in the order in which they joined them. The secret key is null for a MEMBER
 * where the project hides it.
 */
export async function projectsOfUser(
  sql: Sql,
  userId: string,
  encryptionKeys: EncryptionKeys,
): Promise<(ProjectRecord & { role: Role })[]> {
  const rows = await sql.rows<StoredProject & { role: Role }>(ofUser, [userId]);
  return rows.map(({ role, ...row }) => {
    const record = recordOf(row, encryptionKeys);
    const isHidden = row.hideSecretKey && !roleIncludes(role, 'ADMIN');
    return { ...record, secret: isHidden ? null : record.secret, role };
  });
}

/** Changes what is given; null when the project is gone. */
export async function changeProject(
  sql: Sql,
  id: string,
  changes: ChangeProject,
  encryptionKeys: EncryptionKeys,
): Promise<ProjectRecord | null> {
  const { name = null, tracking = null, language = null, escapeContactData = null, hideSecretKey = null } = changes;
  const row = await sql.row<StoredProject>(change, [id, name, tracking, language, escapeContactData, hideSecretKey]);
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
  sql: Sql,
  id: string,
  keys: StoredKeys,
  encryptionKeys: EncryptionKeys,
): Promise<ProjectRecord | null> {
  const { publicKeyHash, secretKeyHash, publicKeySealed, secretKeySealed } = keys;
  const row = await sql.row<StoredProject>(rotate, [
    id,
    publicKeyHash,
    secretKeyHash,
    publicKeySealed,
    secretKeySealed,
  ]);
  return row && recordOf(row, encryptionKeys);
}

/** Whether a user is a member of a disabled project. */
export async function isInDisabledProject(sql: Sql, userId: string): Promise<boolean> {
  return (await sql.row<{ yes: boolean }>(inDisabled, [userId]))?.yes ?? false;
}

/** The short form of a project, or null. */
export async function projectSummary(sql: Sql, id: string): Promise<ProjectSummary | null> {
  const row = await sql.row<ProjectSummary>(summary, [id]);
  return row && { ...row, createdAt: isoInstant(row.createdAt) };
}

/** The short form of a user's projects, in the order in which they joined them. */
export async function projectSummaries(sql: Sql, userId: string): Promise<ProjectSummary[]> {
  const rows = await sql.rows<ProjectSummary>(summaries, [userId]);
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
