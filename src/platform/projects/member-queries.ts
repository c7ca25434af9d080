import { isoInstant } from '../../core/database/columns.ts';
import { type Database, sql } from '../../core/database/sql.ts';
import type { Role } from '../../core/lib/roles.ts';
import { Membership } from './entity.ts';
import type { ListedMember, Member } from './member-schema.ts';

/** The members of a project in the order in which they joined. */
export async function listMembers(db: Database, projectId: string): Promise<ListedMember[]> {
  const rows = await db.rows<ListedMember>(sql`
    select m.user_id as "userId", u.email, m.role, m.created_at::text as "createdAt" from memberships m
      join users u on u.id = m.user_id where m.project_id = ${projectId} order by m.created_at, m.user_id`);
  return rows.map((row) => ({ ...row, createdAt: isoInstant(row.createdAt) }));
}

/** One member, or null. */
export function findMember(db: Database, projectId: string, userId: string): Promise<Member | null> {
  return db.row(sql`
    select m.user_id as "userId", u.email, m.role from memberships m join users u on u.id = m.user_id
      where m.project_id = ${projectId} and m.user_id = ${userId}`);
}

/** Adds a member; false when the user is one already. */
export async function addMembership(db: Database, projectId: string, userId: string, role: Role): Promise<boolean> {
  const added = await db.count(sql`
    insert into memberships (project_id, user_id, role) values (${projectId}, ${userId}, ${role}) on conflict do nothing`);
  return added > 0;
}

// The owner is what the row says at this moment, so that no order of requests takes a project its owner.
const notOwner = (projectId: string, userId: string) => ({ projectId, userId, role: { $ne: 'OWNER' } }) as const;

/** Changes the role of a member who is not the owner; false when there is none. */
export async function changeMembership(db: Database, projectId: string, userId: string, role: Role): Promise<boolean> {
  return (await db.em.nativeUpdate(Membership, notOwner(projectId, userId), { role })) > 0;
}

/** Removes a member who is not the owner; false when there is none. */
export async function removeMembership(db: Database, projectId: string, userId: string): Promise<boolean> {
  return (await db.em.nativeDelete(Membership, notOwner(projectId, userId))) > 0;
}
