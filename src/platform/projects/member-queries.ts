import { isoInstant } from '../../core/database/columns.ts';
import { type Sql, statement } from '../../core/database/sql.ts';
import type { Role } from '../../core/lib/roles.ts';
import type { ListedMember, Member } from './member-schema.ts';

const list = statement(
  'members.list',
  `select m.user_id as "userId", u.email, m.role, m.created_at::text as "createdAt"
   from memberships m join users u on u.id = m.user_id where m.project_id = $1 order by m.created_at, m.user_id`,
);
const find = statement(
  'members.find',
  `select m.user_id as "userId", u.email, m.role from memberships m join users u on u.id = m.user_id
   where m.project_id = $1 and m.user_id = $2`,
);
const add = statement(
  'members.add',
  `insert into memberships (project_id, user_id, role) values ($1, $2, $3) on conflict do nothing`,
);
// The owner is what the row says at this moment, so that no order of requests takes a project its owner.
const change = statement(
  'members.change',
  `update memberships set role = $3 where project_id = $1 and user_id = $2 and role <> 'OWNER'`,
);
const remove = statement(
  'members.remove',
  `delete from memberships where project_id = $1 and user_id = $2 and role <> 'OWNER'`,
);

/** The members of a project in the order in which they joined. */
export async function listMembers(sql: Sql, projectId: string): Promise<ListedMember[]> {
  const rows = await sql.rows<ListedMember>(list, [projectId]);
  return rows.map((row) => ({ ...row, createdAt: isoInstant(row.createdAt) }));
}

/** One member, or null. */
export function findMember(sql: Sql, projectId: string, userId: string): Promise<Member | null> {
  return sql.row<Member>(find, [projectId, userId]);
}

/** Adds a member; false when the user is one already. */
export async function addMembership(sql: Sql, projectId: string, userId: string, role: Role): Promise<boolean> {
  return (await sql.count(add, [projectId, userId, role])) > 0;
}

/** Changes the role of a member who is not the owner; false when there is none. */
export async function changeMembership(sql: Sql, projectId: string, userId: string, role: Role): Promise<boolean> {
  return (await sql.count(change, [projectId, userId, role])) > 0;
}

/** Removes a member who is not the owner; false when there is none. */
export async function removeMembership(sql: Sql, projectId: string, userId: string): Promise<boolean> {
  return (await sql.count(remove, [projectId, userId])) > 0;
}
