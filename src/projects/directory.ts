import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { ScopedKey } from '../http/context.ts';
import { sha256 } from '../lib/seal.ts';
import { type Changes, createCache } from '../store/changes.ts';
import { type Database, raw, sql } from '../store/sql.ts';
import { billingColumns, type ProjectBilling } from './queries.ts';
import type { Holdout, ProjectRecord } from './schema.ts';

/** The two keys of a project: `pk_…` may only track, `sk_…` may do everything. */
export interface KeyPair {
  publicKey: string;
  secretKey: string;
}

/** Makes a pair of keys of 32 random bytes each. */
export function newKeyPair(): KeyPair {
  return { publicKey: `pk_${randomBytes(32).toString('hex')}`, secretKey: `sk_${randomBytes(32).toString('hex')}` };
}

/** Makes a key with scopes of 32 random bytes. */
export function newScopedKey(): string {
  return `${scopedPrefix}${randomBytes(32).toString('hex')}`;
}

/** How keys with scopes begin. */
const scopedPrefix = 'rk_';

/** The beginning of a key by which people recognize it. */
export function keyPrefix(key: string): string {
  return key.slice(0, scopedPrefix.length + 8);
}

declare module '../http/context.ts' {
  interface App {
    directory: ProjectDirectory;
  }

  interface RequestProject extends ProjectFacts {}
}

/** The facts about a project that requests and mail need. */
export interface ProjectFacts
  extends Pick<
    ProjectRecord,
    | 'id'
    | 'name'
    | 'disabled'
    | 'tracking'
    | 'language'
    | 'escapeContactData'
    | 'publicKeyMode'
    | 'publicKeyRequestsPerMinute'
  > {
  /** Everything of the project but itself is being deleted; writes are refused meanwhile. */
  resetting: boolean;
  /** Messages a second, when the project is set lower than the deployment. */
  sendRate: number | null;
  /** Monthly limits. */
  billing: ProjectBilling;
  /** The control group; null for none. */
  holdout: Holdout | null;
}

/** A key with scopes, as requests are decided by it. */
interface KnownScopedKey extends ScopedKey {
  /** When it stops working: at its expiry, or at the end of the overlap for one that was rotated. */
  until: Date | null;
  /** As far as this process knows, to five minutes. */
  lastUsedAt: Date | null;
}

/** Who a key belongs to, and which kind it is. */
export type KeyOwner = { project: ProjectFacts } & (
  | { kind: 'public' | 'secret'; scoped: null }
  | { kind: 'scoped'; scoped: KnownScopedKey }
);

/** Verified domains, each with whether it may send. */
export type VerifiedDomains = ReadonlyMap<string, boolean>;

/** Look-ups that every request makes; kept in memory and right across processes (see `src/store/changes.ts`). */
export interface ProjectDirectory {
  byKey(key: string): Promise<KeyOwner | null>;
  /** Notes that a key was used, at most every five minutes. */
  noteUse(key: KnownScopedKey, at: Date): Promise<void>;
  byId(projectId: string): Promise<ProjectFacts | null>;
  /** Verified domains of the project, each with whether it may send: one that is not approved waits for the operator. */
  senderDomains(projectId: string): Promise<VerifiedDomains>;
  /** Forgets a project at once in this process; others hear of the change by notification. */
  forget(projectId: string): void;
  /**
   * Forgets a project here and resolves once the other processes have done so: what must hold for the very next request
   * anywhere, such as new keys, is answered after it.
   */
  forgetEverywhere(projectId: string): Promise<void>;
}

const factColumns =
  raw(`id, name, disabled, resetting, tracking, language, escape_contact_data as "escapeContactData", send_rate as "sendRate",
  holdout, public_key_mode as "publicKeyMode", public_key_requests_per_minute as "publicKeyRequestsPerMinute",
  ${billingColumns('projects')} as billing`);

const noteUseEveryMs = 5 * 60_000;

/** The directory over a database whose changes are heard. */
export function createProjectDirectory(db: Database, changes: Changes): ProjectDirectory {
  const owners = createCache<KeyOwner>(changes, ['projects', 'api_keys']);
  const projects = createCache<ProjectFacts>(changes, ['projects']);
  const domains = createCache<VerifiedDomains>(changes, ['domains']);
  return {
    byKey: (key) =>
      owners.get(key, async () => {
        if (key.startsWith(scopedPrefix)) return scopedOwner(db, sha256(key));
        const hash = sha256(key);
        const row = await db.row<ProjectFacts & { secret: boolean }>(sql`
          select ${factColumns}, secret_key_hash = ${hash} as secret from projects
            where (secret_key_hash = ${hash} or public_key_hash = ${hash}) and deleted_at is null`);
        if (row === null) return null;
        const { secret, ...project } = row;
        return { projectId: project.id, value: { project, kind: secret ? 'secret' : 'public', scoped: null } };
      }),
    async noteUse(key, at) {
      const before = new Date(at.getTime() - noteUseEveryMs);
      if (key.lastUsedAt !== null && key.lastUsedAt > before) return;
      key.lastUsedAt = at;
      await db.count(sql`
        update api_keys set last_used_at = ${at}
          where id = ${key.id} and (last_used_at is null or last_used_at <= ${before})`);
    },
    byId: (projectId) =>
      projects.get(projectId, async () => {
        const value = await factsOf(db, projectId);
        return value && { projectId, value };
      }),
    async senderDomains(projectId) {
      const known = await domains.get(projectId, async () => {
        const rows = await db.rows<{ domain: string; approved: boolean }>(
          sql`select domain, approved from domains where project_id = ${projectId} and verified`,
        );
        return { projectId, value: new Map(rows.map(({ domain, approved }) => [domain, approved])) };
      });
      return known ?? new Map();
    },
    forget: changes.forget,
    forgetEverywhere(projectId) {
      changes.forget(projectId);
      return changes.heardEverywhere();
    },
  };
}

function factsOf(db: Database, projectId: string): Promise<ProjectFacts | null> {
  return db.row<ProjectFacts>(sql`select ${factColumns} from projects where id = ${projectId} and deleted_at is null`);
}

interface StoredScopedKey extends ScopedKey {
  projectId: string;
  hash: Buffer;
  oldHash: Buffer | null;
  expiresAt: string | null;
  oldHashUntil: string | null;
  lastUsedAt: string | null;
}

async function scopedOwner(db: Database, hash: Buffer): Promise<{ projectId: string; value: KeyOwner } | null> {
  const row = await db.row<StoredScopedKey>(sql`
    select id, project_id as "projectId", prefix, hash, old_hash as "oldHash", scopes, sender_domains as "senderDomains",
        recipients, mcp, expires_at::text as "expiresAt", old_hash_until::text as "oldHashUntil", last_used_at::text as "lastUsedAt"
      from api_keys where hash = ${hash} or old_hash = ${hash}`);
  if (row === null) return null;
  const { projectId, oldHash, expiresAt, oldHashUntil, lastUsedAt, hash: current, ...key } = row;
  const isCurrent = timingSafeEqual(current, hash);
  if (!isCurrent && (oldHash === null || !timingSafeEqual(oldHash, hash))) return null;
  const project = await factsOf(db, projectId);
  if (project === null) return null;
  const ends = [expiresAt, isCurrent ? null : oldHashUntil].filter((end) => end !== null).map((end) => Date.parse(end));
  const until = ends.length === 0 ? null : new Date(Math.min(...ends));
  const scoped = { ...key, until, lastUsedAt: lastUsedAt === null ? null : new Date(lastUsedAt) };
  return { projectId, value: { project, kind: 'scoped', scoped } };
}
