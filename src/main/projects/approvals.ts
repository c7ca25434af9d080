import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Domain } from '../../domains/queries.ts';
import { readConfigOrExit } from '../../lib/config/config.ts';
import { unsafeSettings } from '../../lib/config/secrets.ts';
import { Project } from '../../projects/queries.ts';
import { type Database, sql } from '../../store/sql.ts';
import { keptSecrets } from '../start/settings.ts';
import { createOperatorProject, firstProjectWishes, ProjectRefused } from './first-project.ts';

/** A project of somebody whom no operator invited, with its owners and the domains that wait for approval. */
interface WaitingProject {
  id: string;
  name: string;
  owners: string[];
  /** `verified`: the DNS records are set, so that the owner has shown control of the domain. */
  domains: { domain: string; verified: boolean }[];
  createdAt: string;
}

/** The projects that are not trusted, the oldest first. */
export function waitingProjects(db: Database): Promise<WaitingProject[]> {
  return db.rows(sql`
    select p.id, p.name, p.created_at::text as "createdAt",
      array(select u.email from memberships m join users u on u.id = m.user_id
        where m.project_id = p.id and m.role = 'OWNER' order by u.email) as owners,
      coalesce((select jsonb_agg(jsonb_build_object('domain', d.domain, 'verified', d.verified) order by d.domain)
        from domains d where d.project_id = p.id and not d.approved), '[]') as domains
    from projects p where not p.trusted and p.deleted_at is null order by p.created_at, p.id`);
}

/**
 * Trusts a project: its domains of today and tomorrow may send once they are verified, and no daily limit holds. Returns its name;
 * null for no such project.
 */
export async function approveProject(db: Database, id: string): Promise<string | null> {
  return db.transaction(async (tx) => {
    const project = await tx.em.findOne(Project, { id, deletedAt: null });
    if (project === null) return null;
    await tx.em.nativeUpdate(Project, { id }, { trusted: true, updatedAt: new Date() });
    await approveDomains(tx, { projectId: id });
    return project.name;
  });
}

/** Lets one domain of a project send, and leaves everything else as it is. False for a domain that the project does not have. */
export function approveDomain(db: Database, projectId: string, domain: string): Promise<boolean> {
  return db.transaction(async (tx) => (await approveDomains(tx, { projectId, domain })) > 0);
}

// Processes keep the domains of a project in memory, and hear of this with the commit.
async function approveDomains(tx: Database, which: { projectId: string; domain?: string }): Promise<number> {
  await tx.em.nativeUpdate(Domain, { ...which, approved: false }, { approved: true, updatedAt: new Date() });
  await tx.row(sql`select pg_notify('fernpost_changes', 'domains:' || ${which.projectId}::text)`);
  return tx.em.count(Domain, which);
}

/**
 * `npm run project -- create --owner <address> --sender <address> [--name <name>]`: prints the project with its keys, which
 * are shown this once, and the DNS records of the sender's domain. Answers the status of the process.
 */
export async function createByHand(args: readonly string[]): Promise<number> {
  const text = { type: 'string' } as const;
  let given: { owner?: string; sender?: string; name?: string };
  try {
    given = parseArgs({ args: [...args], options: { owner: text, sender: text, name: text } }).values;
  } catch (error) {
    console.error(`fernpost: ${(error as Error).message}`);
    return 2;
  }
  useKeptSecret();
  const config = readConfigOrExit(['DATABASE_URL']);
  for (const warning of unsafeSettings(config)) console.error(`fernpost: warning: ${warning}`);
  const wishes = firstProjectWishes(config);
  try {
    const project = await createOperatorProject(config, {
      owner: given.owner ?? wishes.owner,
      sender: given.sender ?? wishes.sender,
      name: given.name ?? wishes.name,
    });
    console.log(JSON.stringify(project, null, 2));
    if (project.problem !== null)
      console.error(`fernpost: the project was made, but not its domain: ${project.problem}. Add it in the dashboard`);
    return 0;
  } catch (error) {
    if (!(error instanceof ProjectRefused)) throw error;
    for (const problem of error.problems) console.error(`fernpost: ${problem}`);
    return 1;
  }
}

/** Beside `npm start` the secret of the service is the one that it has made. */
export function useKeptSecret(): void {
  const dataDir = process.env.DATA_DIR?.trim() || '.data';
  if ((process.env.JWT_SECRET?.trim() ?? '') !== '' || !existsSync(join(dataDir, 'secrets.json'))) return;
  process.env.JWT_SECRET = keptSecrets(dataDir).jwtSecret;
}
