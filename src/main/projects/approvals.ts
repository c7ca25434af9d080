import { type Database, sql } from '../../core/database/sql.ts';

/** A project of somebody whom no operator invited, with its owners and the domains that wait for approval. */
export interface WaitingProject {
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
    const project = await tx.row<{ name: string }>(sql`
      update projects set trusted = true, updated_at = now() where id = ${id} and deleted_at is null returning name`);
    if (project !== null) await approveDomains(tx, id, null);
    return project?.name ?? null;
  });
}

/** Lets one domain of a project send, and leaves everything else as it is. False for a domain that the project does not have. */
export function approveDomain(db: Database, projectId: string, domain: string): Promise<boolean> {
  return db.transaction(async (tx) => (await approveDomains(tx, projectId, domain)) > 0);
}

// Processes keep the domains of a project in memory, and hear of this with the commit.
async function approveDomains(tx: Database, projectId: string, domain: string | null): Promise<number> {
  const approved = await tx.count(sql`
    update domains set approved = true, updated_at = case when approved then updated_at else now() end
      where project_id = ${projectId} and (${domain}::text is null or domain = ${domain})`);
  await tx.row(sql`select pg_notify('fernpost_changes', 'domains:' || ${projectId}::text)`);
  return approved;
}
