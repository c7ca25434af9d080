import type { ScopedKey } from '../http/context.ts';
import { AppError, conflict, invalidField, notFound } from '../lib/errors.ts';
import { isUuid, newId } from '../lib/ids.ts';
import { sha256 } from '../lib/seal.ts';
import { isoInstant, isoInstantOrNull } from '../store/columns.ts';
import { type Database, sql } from '../store/sql.ts';
import type { ApiKeyBody, CreateApiKey, NewApiKey, PatchApiKey } from './api-key-schema.ts';
import { recordChange } from './audit/record.ts';
import { keyPrefix, newScopedKey } from './directory.ts';

/**
 * Checks that a key of a language model may do this by itself: what its setting `mcp` wants planned, or approved by a member, it may not
 * do by another way than `/mcp` either. `reached` is how many contacts it reaches; Infinity where that is not known.
 * @throws 403 PLAN_NEEDED
 */
export function checkUnplanned(key: ScopedKey | null, reached: number): void {
  if (!key?.mcp || key.mcp.mode === 'read') return;
  const { mode, needsHuman, mostRecipients } = key.mcp;
  if (mode === 'act' && needsHuman !== 'always' && reached <= mostRecipients) return;
  const why =
    mode === 'plan'
      ? 'only makes plans'
      : needsHuman === 'always'
        ? 'needs the approval of a member'
        : `reaches at most ${mostRecipients} contacts at once`;
  throw new AppError(403, 'PLAN_NEEDED', `This key is for AI assistants and ${why}`, {
    details: { mode, needsHuman, mostRecipients },
    suggestion:
      'Make a plan at POST /mcp and let a member approve it, sign in, or use a key without the setting "mcp".',
  });
}

const mostKeys = 100;
const hourMs = 3_600_000;

const columns = sql`k.id, k.name, k.prefix, k.scopes, k.sender_domains as "senderDomains", k.recipients, k.mcp, k.expires_at::text as "expiresAt",
  case when k.old_hash_until > now() then k.old_hash_until::text end as "overlapUntil", k.last_used_at::text as "lastUsedAt",
  (select jsonb_build_object('id', u.id, 'email', u.email) from users u where u.id = k.created_by) as "createdBy",
  k.created_at::text as "createdAt", k.updated_at::text as "updatedAt"`;

function keyBody(row: ApiKeyBody): ApiKeyBody {
  return {
    ...row,
    expiresAt: isoInstantOrNull(row.expiresAt),
    overlapUntil: isoInstantOrNull(row.overlapUntil),
    lastUsedAt: isoInstantOrNull(row.lastUsedAt),
    createdAt: isoInstant(row.createdAt),
    updatedAt: isoInstant(row.updatedAt),
  };
}

/** The keys with scopes of a project, the oldest first. */
export async function listApiKeys(db: Database, projectId: string): Promise<ApiKeyBody[]> {
  const rows = await db.rows<ApiKeyBody>(
    sql`select ${columns} from api_keys k where k.project_id = ${projectId} order by k.created_at, k.id`,
  );
  return rows.map(keyBody);
}

async function keyOf(db: Database, projectId: string, id: string): Promise<ApiKeyBody> {
  const row = isUuid(id)
    ? await db.row<ApiKeyBody>(
        sql`select ${columns} from api_keys k where k.project_id = ${projectId} and k.id = ${id} for update`,
      )
    : null;
  if (row === null) throw notFound('API key', id);
  return keyBody(row);
}

/** Creates a key, at most 100 a project. @throws 409 for one more, 422 for one that has expired already */
export function createApiKey(
  db: Database,
  projectId: string,
  wanted: CreateApiKey,
  { userId, now }: { userId: string | null; now: Date },
): Promise<NewApiKey> {
  const { name, scopes, senderDomains = null, recipients = null, expiresAt = null, mcp = null } = wanted;
  if (expiresAt !== null && new Date(expiresAt) <= now)
    throw invalidField('expiresAt', 'must be in the future', 'too_small');
  const [id, key] = [newId(), newScopedKey()];
  return db.transaction(async (tx) => {
    // Two requests at once must not both see room for one more.
    await tx.row(sql`select from projects where id = ${projectId} for no key update`);
    const { count } = (await tx.row<{ count: number }>(
      sql`select count(*)::int as count from api_keys where project_id = ${projectId}`,
    )) ?? { count: 0 };
    if (count >= mostKeys) throw conflict(`A project has at most ${mostKeys} keys with scopes: delete one first`);
    await tx.count(sql`
      insert into api_keys (id, project_id, name, prefix, hash, scopes, sender_domains, recipients, mcp, expires_at, created_by)
      values (${id}, ${projectId}, ${name}, ${keyPrefix(key)}, ${sha256(key)}, ${scopes}, ${senderDomains},
        ${recipients && JSON.stringify(recipients)}::jsonb, ${mcp && JSON.stringify(mcp)}::jsonb,
        ${expiresAt}, ${userId})`);
    await recordChange(tx, projectId, {
      action: 'api_key.created',
      target: id,
      after: { name, scopes, senderDomains, recipients, expiresAt, mcp },
    });
    return { ...(await keyOf(tx, projectId, id)), key };
  });
}

/** Changes the name or the scopes of a key. @throws 404 */
export function patchApiKey(db: Database, projectId: string, id: string, wanted: PatchApiKey): Promise<ApiKeyBody> {
  return db.transaction(async (tx) => {
    const before = await keyOf(tx, projectId, id);
    const { name, scopes, mcp } = { ...before, ...wanted };
    await tx.count(sql`
      update api_keys set name = ${name}, scopes = ${scopes}, mcp = ${mcp && JSON.stringify(mcp)}::jsonb, updated_at = now()
        where project_id = ${projectId} and id = ${id}`);
    const after = await keyOf(tx, projectId, id);
    await recordChange(tx, projectId, {
      action: 'api_key.updated',
      target: id,
      before: { ...before },
      after: { ...after },
    });
    return after;
  });
}

/**
 * Gives a key a new secret; the one before works for so many hours more. One that overlaps from an earlier rotation ends
 * at once. @throws 404
 */
export function rotateApiKey(
  db: Database,
  projectId: string,
  id: string,
  { overlapHours, now }: { overlapHours: number; now: Date },
): Promise<NewApiKey> {
  const key = newScopedKey();
  const until = overlapHours === 0 ? null : new Date(now.getTime() + overlapHours * hourMs);
  return db.transaction(async (tx) => {
    await keyOf(tx, projectId, id);
    await tx.count(sql`
      update api_keys set hash = ${sha256(key)}, prefix = ${keyPrefix(key)}, old_hash_until = ${until},
          old_hash = ${until === null ? sql`null` : sql`hash`}, updated_at = now()
        where project_id = ${projectId} and id = ${id}`);
    await recordChange(tx, projectId, { action: 'api_key.rotated', target: id, after: { overlapHours } });
    return { ...(await keyOf(tx, projectId, id)), key };
  });
}

/** Takes a key away. @throws 404 */
export function deleteApiKey(db: Database, projectId: string, id: string): Promise<void> {
  return db.transaction(async (tx) => {
    const { name, scopes } = await keyOf(tx, projectId, id);
    await tx.count(sql`delete from api_keys where project_id = ${projectId} and id = ${id}`);
    await recordChange(tx, projectId, { action: 'api_key.deleted', target: id, before: { name, scopes } });
  });
}
