import { type Changes, createCache } from '../../core/database/changes.ts';
import { type Database, raw, sql } from '../../core/database/sql.ts';
import { sha256 } from '../../core/lib/seal.ts';
import { billingColumns, type ProjectBilling } from './limits-columns.ts';
import type { ProjectRecord } from './schema.ts';

declare module '../../core/http/context.ts' {
  interface App {
    directory: ProjectDirectory;
  }

  interface RequestProject extends ProjectFacts {}
}

/** What requests and mail need to know of a project. */
export interface ProjectFacts
  extends Pick<ProjectRecord, 'id' | 'name' | 'disabled' | 'tracking' | 'language' | 'escapeContactData'> {
  /** Everything of the project but itself is being deleted; writes are refused meanwhile. */
  resetting: boolean;
  /** Messages a second, when the project is set lower than the deployment. */
  sendRate: number | null;
  /** What it may use in a month. */
  billing: ProjectBilling;
}

/** Who a key belongs to, and which of the two it is. */
export interface KeyOwner {
  project: ProjectFacts;
  kind: 'public' | 'secret';
}

/** Look-ups that every request makes; kept in memory and right across processes (see `src/core/database/changes.ts`). */
export interface ProjectDirectory {
  byKey(key: string): Promise<KeyOwner | null>;
  byId(projectId: string): Promise<ProjectFacts | null>;
  /** Domains from which the project may send. */
  senderDomains(projectId: string): Promise<ReadonlySet<string>>;
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
  ${billingColumns('projects')} as billing`);

/** The directory over a database whose changes are heard. */
export function createProjectDirectory(db: Database, changes: Changes): ProjectDirectory {
  const owners = createCache<KeyOwner>(changes, ['projects']);
  const projects = createCache<ProjectFacts>(changes, ['projects']);
  const domains = createCache<ReadonlySet<string>>(changes, ['domains']);
  return {
    byKey: (key) =>
      owners.get(key, async () => {
        const hash = sha256(key);
        const row = await db.row<ProjectFacts & { secret: boolean }>(sql`
          select ${factColumns}, secret_key_hash = ${hash} as secret from projects
            where (secret_key_hash = ${hash} or public_key_hash = ${hash}) and deleted_at is null`);
        if (row === null) return null;
        const { secret, ...project } = row;
        return { projectId: project.id, value: { project, kind: secret ? 'secret' : 'public' } };
      }),
    byId: (projectId) =>
      projects.get(projectId, async () => {
        const value = await db.row<ProjectFacts>(
          sql`select ${factColumns} from projects where id = ${projectId} and deleted_at is null`,
        );
        return value && { projectId, value };
      }),
    async senderDomains(projectId) {
      const known = await domains.get(projectId, async () => {
        const rows = await db.rows<{ domain: string }>(
          sql`select domain from domains where project_id = ${projectId} and verified`,
        );
        return { projectId, value: new Set(rows.map((row) => row.domain)) };
      });
      return known ?? new Set();
    },
    forget: changes.forget,
    forgetEverywhere(projectId) {
      changes.forget(projectId);
      return changes.heardEverywhere();
    },
  };
}
