import { createHash } from 'node:crypto';
import type { Sql } from '../../src/db/sql.ts';
import { newId } from '../../src/lib/ids.ts';

/** What a test project is made of; everything has a value that fits most tests. */
export interface ProjectChanges {
  name?: string;
  sendRate?: number | null;
  disabled?: boolean;
  tracking?: 'ENABLED' | 'DISABLED' | 'MARKETING_ONLY';
  /** A domain of the project, verified; null for none. `birdwatch-<start of the id>.test` when absent. */
  domain?: string | null;
}

/** A project as a test uses it. */
export interface TestProject {
  id: string;
  /** An address below the project's domain. */
  sender: string;
}

/** Inserts a project with a verified sender domain. */
export async function aProject(sql: Sql, changes: ProjectChanges = {}): Promise<TestProject> {
  const id = newId();
  const hash = (kind: string) => createHash('sha256').update(`${kind}${id}`).digest();
  await sql.count(
    `insert into projects (id, name, public_key_hash, secret_key_hash, public_key_sealed, secret_key_sealed, send_rate, disabled, tracking)
     values ($1, $2, $3, $4, '', '', $5, $6, $7)`,
    [
      id,
      changes.name ?? 'Birdwatch',
      hash('public'),
      hash('secret'),
      changes.sendRate ?? null,
      changes.disabled ?? false,
      changes.tracking ?? 'ENABLED',
    ],
  );
  const domain = changes.domain === undefined ? `birdwatch-${id.slice(-12)}.test` : changes.domain;
  if (domain !== null)
    await sql.count(
      `insert into domains (id, project_id, domain, verified, status) values ($1, $2, $3, true, 'Success')`,
      [newId(), id, domain],
    );
  return { id, sender: `hello@${domain ?? 'nowhere.test'}` };
}

/** Inserts a contact and answers its id. */
export async function aContact(
  sql: Sql,
  projectId: string,
  email: string,
  changes: { subscribed?: boolean; data?: object } = {},
): Promise<string> {
  const id = newId();
  const subscribed = changes.subscribed ?? true;
  await sql.count(
    `insert into contacts (id, project_id, email, subscribed, subscription_before, data) values ($1, $2, $3, $4, $4, $5)`,
    [id, projectId, email, subscribed, JSON.stringify(changes.data ?? {})],
  );
  return id;
}
