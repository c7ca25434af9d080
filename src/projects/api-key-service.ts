import { defineEntity, type InferEntity, LockMode } from '@mikro-orm/core';
import { User } from '../accounts/entity.ts';
import type { ScopedKey } from '../http/context.ts';
import type { Scope } from '../lib/enums.ts';
import { AppError, conflict, invalidField, notFound } from '../lib/errors.ts';
import { isUuid } from '../lib/ids.ts';
import { sha256 } from '../lib/seal.ts';
import { baseColumns } from '../store/columns.ts';
import type { Database } from '../store/sql.ts';
import type { ApiKeyBody, CreateApiKey, NewApiKey, PatchApiKey } from './api-key-schema.ts';
import { recordChange } from './audit/record.ts';
import { keyPrefix, newScopedKey } from './directory.ts';
import { lockProject, ofProject } from './queries.ts';

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

const p = defineEntity.properties;

/** A key with scopes. Until `oldHashUntil`, the key that it had before its last rotation works too. */
export const ApiKey = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  properties: {
    ...baseColumns,
    projectId: ofProject(),
    name: p.text(),
    prefix: p.text(),
    hash: p.blob().unique(),
    oldHash: p.blob().nullable().unique(),
    oldHashUntil: p.datetime(3).nullable(),
    scopes: p.array<Scope>(),
    senderDomains: p.array().nullable(),
    recipients: p.json<NonNullable<ApiKeyBody['recipients']>>().nullable(),
    mcp: p.json<NonNullable<ApiKeyBody['mcp']>>().nullable(),
    expiresAt: p.datetime(3).nullable(),
    lastUsedAt: p.datetime(3).nullable(),
    createdBy: () => p.manyToOne(User).deleteRule('set null').updateRule('no action').nullable(),
  },
  indexes: [{ name: 'api_keys_project', properties: ['projectId', 'createdAt'] }],
});
type ApiKey = InferEntity<typeof ApiKey>;

/** Returns the keys with scopes of a project, oldest first. */
export async function listApiKeys(db: Database, projectId: string): Promise<ApiKeyBody[]> {
  const oldestFirst = { createdAt: 'asc', id: 'asc' } as const;
  const keys = await db.em.find(ApiKey, { projectId }, { populate: ['createdBy'], orderBy: oldestFirst });
  return keys.map(keyBody);
}

function keyBody(key: ApiKey): ApiKeyBody {
  const { id, name, prefix, scopes, createdBy, oldHashUntil } = key;
  return {
    id,
    name,
    prefix,
    scopes,
    senderDomains: key.senderDomains ?? null,
    recipients: key.recipients ?? null,
    mcp: key.mcp ?? null,
    expiresAt: key.expiresAt?.toISOString() ?? null,
    overlapUntil: oldHashUntil && oldHashUntil > new Date() ? oldHashUntil.toISOString() : null,
    lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
    createdBy: createdBy ? { id: createdBy.id, email: createdBy.email } : null,
    createdAt: key.createdAt.toISOString(),
    updatedAt: key.updatedAt.toISOString(),
  };
}

async function lockKey(tx: Database, projectId: string, id: string): Promise<ApiKey> {
  const lock = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
  const key = isUuid(id) ? await tx.em.findOne(ApiKey, { projectId, id }, lock) : null;
  if (key === null) throw notFound('API key', id);
  await tx.em.populate(key, ['createdBy']);
  return key;
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
  const secret = newScopedKey();
  return db.transaction(async (tx) => {
    // Two requests at once must not both see room for one more.
    await lockProject(tx, projectId);
    if ((await tx.em.count(ApiKey, { projectId })) >= mostKeys)
      throw conflict(`A project has at most ${mostKeys} keys with scopes: delete one first`);
    const key = tx.em.create(ApiKey, {
      projectId,
      name,
      prefix: keyPrefix(secret),
      hash: sha256(secret),
      scopes,
      senderDomains,
      recipients,
      mcp,
      expiresAt: expiresAt === null ? null : new Date(expiresAt),
      createdBy: userId,
    });
    await tx.em.flush();
    await tx.em.populate(key, ['createdBy']);
    await recordChange(tx, projectId, {
      action: 'api_key.created',
      target: key.id,
      after: { name, scopes, senderDomains, recipients, expiresAt, mcp },
    });
    return { ...keyBody(key), key: secret };
  });
}

/** Changes the name or the scopes of a key. @throws 404 */
export function patchApiKey(db: Database, projectId: string, id: string, wanted: PatchApiKey): Promise<ApiKeyBody> {
  return db.transaction(async (tx) => {
    const key = await lockKey(tx, projectId, id);
    const before = keyBody(key);
    tx.em.assign(key, { ...wanted, updatedAt: new Date() });
    await tx.em.flush();
    const after = keyBody(key);
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
  const secret = newScopedKey();
  const until = overlapHours === 0 ? null : new Date(now.getTime() + overlapHours * hourMs);
  return db.transaction(async (tx) => {
    const key = await lockKey(tx, projectId, id);
    const oldHash = until === null ? null : key.hash;
    const current = { hash: sha256(secret), prefix: keyPrefix(secret), updatedAt: new Date() };
    tx.em.assign(key, { ...current, oldHash, oldHashUntil: until });
    await tx.em.flush();
    await recordChange(tx, projectId, { action: 'api_key.rotated', target: id, after: { overlapHours } });
    return { ...keyBody(key), key: secret };
  });
}

/** Takes a key away. @throws 404 */
export function deleteApiKey(db: Database, projectId: string, id: string): Promise<void> {
  return db.transaction(async (tx) => {
    const { name, scopes } = await lockKey(tx, projectId, id);
    await tx.em.nativeDelete(ApiKey, { projectId, id });
    await recordChange(tx, projectId, { action: 'api_key.deleted', target: id, before: { name, scopes } });
  });
}
