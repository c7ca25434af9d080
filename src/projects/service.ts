import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { AppError, forbidden, invalidField } from '../lib/errors.ts';
import { seal, sha256 } from '../lib/seal.ts';
import { databaseNow } from '../store/changes.ts';
import { lockRow, walkAgain } from '../store/columns.ts';
import type { Database } from '../store/sql.ts';
import { recordChange } from './audit/record.ts';
import { type KeyPair, newKeyPair } from './directory.ts';
import {
  changeProject,
  countProjects,
  createsTrusted,
  type EncryptionKeys,
  lockProject,
  Membership,
  Project,
  projectRecord,
} from './queries.ts';
import type { ChangeProject, Holdout, HoldoutBody, ProjectRecord, RotatedProject, SetHoldout } from './schema.ts';

/** Creates a project with these keys, owned by the user. Call inside a transaction. */
export async function createProject(
  db: Database,
  facts: { name: string; ownerId: string; trusted: boolean; keys: KeyPair; encryptionKey: string },
): Promise<Project> {
  const { name, trusted, keys, encryptionKey } = facts;
  const project = db.em.create(Project, { name, trusted, ...storedKeys(keys, encryptionKey) });
  await db.em.flush();
  db.em.create(Membership, { projectId: project.id, userId: facts.ownerId, role: 'OWNER' });
  await db.em.flush();
  return project;
}

/**
 * Creates a project with new keys for a user; whether it is trusted depends on them. Members of a disabled project may not,
 * so that nobody leaves a bad reputation behind. @throws 403 PROJECT_DISABLED; 403 FORBIDDEN
 * for an owner of `most` projects, where that is not 0
 */
export async function foundProject(
  db: Database,
  userId: string,
  name: string,
  encryptionKeys: EncryptionKeys,
  most: number,
): Promise<ProjectRecord> {
  return db.transaction(async (tx) => {
    if ((await countProjects(tx, userId, { disabled: true })) > 0)
      throw new AppError(
        403,
        'PROJECT_DISABLED',
        'One of your projects is disabled: you cannot create others meanwhile',
        {
          suggestion: 'Ask the operator of this service why the project is disabled.',
        },
      );
    await refuseAnother(tx, userId, most);
    const trusted = await createsTrusted(tx, userId);
    const facts = { name, ownerId: userId, trusted, keys: newKeyPair(), encryptionKey: sealingKey(encryptionKeys) };
    const { id } = await createProject(tx, facts);
    const record = await projectRecord(tx, id, encryptionKeys);
    if (record === null) throw new Error('The project was not created');
    return record;
  });
}

async function refuseAnother(tx: Database, userId: string, most: number): Promise<void> {
  if (most === 0) return;
  // Locked, so that requests at the same time count one after the other.
  await lockRow(tx, 'users', userId);
  const owned = await countProjects(tx, userId, {}, 'OWNER');
  if (owned >= most)
    throw forbidden(
      `You own ${owned} projects, and a person may create up to ${most}`,
      { limit: 'PROJECTS_PER_OWNER', owned, most },
      'Delete a project you no longer need, or ask the operator of this service for a higher limit (PROJECTS_PER_OWNER).',
    );
}

const retentions = [
  ['emailRetentionDays', 'mail'],
  ['eventRetentionDays', 'events'],
  ['executionRetentionDays', 'runs'],
] as const;

/**
 * Changes the settings of a project; null when it is gone. `historyDays` is the setting CONTACT_HISTORY_DAYS.
 * @throws 422 for a retention below it
 */
export function changeSettings(
  db: Database,
  id: string,
  changes: ChangeProject,
  { encryptionKeys, historyDays }: { encryptionKeys: EncryptionKeys; historyDays: number },
): Promise<ProjectRecord | null> {
  for (const [name] of retentions)
    if ((changes[name] ?? historyDays) < historyDays) {
      const message = `must not be below the ${historyDays} days for which changes of contacts are kept`;
      throw invalidField(name, message, 'too_small');
    }
  return db.transaction(async (tx) => {
    await lockProject(tx, id);
    const before = await projectRecord(tx, id, encryptionKeys);
    const isOtherTime = (['quietHours', 'timeZone'] as const).some(
      (name) => changes[name] !== undefined && !isDeepStrictEqual(changes[name], before?.[name]),
    );
    const marked = isOtherTime ? { ...changes, quietChangedAt: await databaseNow(tx) } : changes;
    const after = await changeProject(tx, id, marked, encryptionKeys);
    if (before === null || after === null) return null;
    for (const [name, rows] of retentions) {
      const days = after[name];
      if (days !== null && days !== before[name]) await walkAgain(tx, rows, days);
    }
    await recordChange(tx, id, { action: 'project.updated', target: id, before: { ...before }, after: { ...after } });
    return after;
  });
}

/** The control group of a project; null when the project is gone. */
export async function readHoldout(db: Database, id: string): Promise<HoldoutBody | null> {
  const project = await db.session().em.findOne(Project, { id, deletedAt: null }, { fields: ['holdout'] });
  return project && shownHoldout(project.holdout ?? null, await databaseNow(db));
}

/**
 * Sets the control group of a project, or (null) ends it; null when the project is gone. A group that there is keeps its key, so that its
 * members stay; after one that was ended others are chosen. @throws 422 for an `until` that has passed
 */
export function changeHoldout(db: Database, id: string, change: SetHoldout | null): Promise<HoldoutBody | null> {
  return db.transaction(async (tx) => {
    await lockProject(tx, id);
    const project = await tx.em.findOne(Project, { id, deletedAt: null }, { fields: ['holdout'] });
    if (project === null) return null;
    const now = await databaseNow(tx);
    const { percent, until = null } = change ?? {};
    if (until !== null && Date.parse(until) <= now.getTime())
      throw invalidField('until', 'must be in the future', 'custom');
    const before = project.holdout ?? null;
    const key = before?.key ?? randomBytes(16).toString('hex');
    const after: Holdout | null = percent === undefined ? null : { key, percent, until };
    await tx.em.nativeUpdate(Project, { id }, { holdout: after, updatedAt: new Date() });
    const [was, is] = [shownHoldout(before, now), shownHoldout(after, now)];
    await recordChange(tx, id, { action: 'project.holdout_changed', target: id, before: { ...was }, after: { ...is } });
    return is;
  });
}

function shownHoldout(holdout: Holdout | null, now: Date): HoldoutBody {
  const { percent, until } = holdout ?? { percent: 0, until: null };
  return { percent, until, active: percent > 0 && (until === null || Date.parse(until) > now.getTime()) };
}

/** Replaces both keys of a project by one statement; null when it is gone. */
export async function rotateKeys(
  db: Database,
  id: string,
  encryptionKeys: EncryptionKeys,
): Promise<RotatedProject | null> {
  const keys = newKeyPair();
  const record = await db.transaction(async (tx) => {
    const changed = await changeProject(tx, id, storedKeys(keys, sealingKey(encryptionKeys)), encryptionKeys);
    if (changed !== null) await recordChange(tx, id, { action: 'project.keys_replaced', target: id });
    return changed;
  });
  if (record === null) return null;
  const { name, createdAt, updatedAt, disabled, customer, subscription } = record;
  const { publicKey, secretKey } = keys;
  return { id, name, public: publicKey, secret: secretKey, createdAt, updatedAt, disabled, customer, subscription };
}

function sealingKey([current]: EncryptionKeys): string {
  if (current === undefined) throw new Error('There is no key to encrypt with');
  return current;
}

// A pair of keys as the row keeps it.
function storedKeys(keys: KeyPair, encryptionKey: string) {
  return {
    publicKeyHash: sha256(keys.publicKey),
    secretKeyHash: sha256(keys.secretKey),
    publicKeySealed: seal(keys.publicKey, encryptionKey),
    secretKeySealed: seal(keys.secretKey, encryptionKey),
  };
}
