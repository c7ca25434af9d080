import * as v from 'valibot';
import { User } from '../accounts/entity.ts';
import { roles } from '../lib/enums.ts';
import { AppError, conflict, forbidden } from '../lib/errors.ts';
import { isUuid } from '../lib/ids.ts';
import { EmailField } from '../lib/validation/email-address.ts';
import { field, Instant, nameSchemas } from '../lib/validation/fields.ts';
import { isoInstant } from '../store/columns.ts';
import { type Database, sql } from '../store/sql.ts';
import { recordChange } from './audit/record.ts';
import { Membership } from './queries.ts';

const GivenRole = v.picklist(['ADMIN', 'MEMBER'], 'must be ADMIN or MEMBER');

/** `POST /projects/{id}/members`. */
export const AddMember = v.object({
  email: field("Email address of the user's account.", EmailField),
  role: field('Role in the project.', v.optional(GivenRole, 'MEMBER')),
});
export type AddMember = v.InferOutput<typeof AddMember>;
/** `PATCH /projects/{id}/members/{userId}`. */
export const ChangeMember = v.object({ role: field('New role in the project.', GivenRole) });
export type ChangeMember = v.InferOutput<typeof ChangeMember>;

/** Somebody in a project, after a change. */
export const Member = v.object({
  userId: field('ID of the user.', v.string()),
  email: field('Email address of the user.', v.string()),
  role: field('Role in the project.', v.picklist(roles)),
});
export type Member = v.InferOutput<typeof Member>;
/** Somebody in the list of a project's members. */
export const ListedMember = v.object({
  ...Member.entries,
  createdAt: field('Time at which the user joined the project.', Instant),
});
export type ListedMember = v.InferOutput<typeof ListedMember>;

nameSchemas({ Member, ListedMember });

/** The members of a project in the order in which they joined. */
export async function listMembers(db: Database, projectId: string): Promise<ListedMember[]> {
  const rows = await db.rows<ListedMember>(sql`
    select m.user_id as "userId", u.email, m.role, m.created_at::text as "createdAt" from memberships m
      join users u on u.id = m.user_id where m.project_id = ${projectId} order by m.created_at, m.user_id`);
  return rows.map((row) => ({ ...row, createdAt: isoInstant(row.createdAt) }));
}

/** Makes a user a member and records it. Returns false for somebody who is one already. */
export async function join(
  tx: Database,
  projectId: string,
  user: { id: string; email: string },
  role: AddMember['role'],
): Promise<boolean> {
  const added = await tx.count(sql`
    insert into memberships (project_id, user_id, role) values (${projectId}, ${user.id}, ${role}) on conflict do nothing`);
  if (added === 0) return false;
  await recordChange(tx, projectId, { action: 'member.added', target: user.id, after: { email: user.email, role } });
  return true;
}

/** Makes the user with this address a member. @throws 404 without such an account, 409 for a member */
export async function addMember(db: Database, projectId: string, { email, role }: AddMember): Promise<Member> {
  const user = await db.em.findOne(User, { email });
  if (user === null)
    throw new AppError(404, 'RESOURCE_NOT_FOUND', `No account has the address ${email}: its owner must sign up first`, {
      details: { resource: 'user', id: email },
    });
  return db.transaction(async (tx) => {
    if (!(await join(tx, projectId, user, role))) throw conflict(`${email} is a member already`);
    return { userId: user.id, email, role };
  });
}

/** Gives a member another role. @throws 403 for the owner, 404 for somebody who is no member */
export async function changeMember(
  db: Database,
  projectId: string,
  userId: string,
  { role }: ChangeMember,
): Promise<Member> {
  const member = await memberOrRefuse(db, projectId, userId, 'The owner keeps the role OWNER');
  return db.transaction(async (tx) => {
    if ((await tx.em.nativeUpdate(Membership, notOwner(projectId, userId), { role })) === 0) throw noMember(userId);
    const [before, after] = [{ role: member.role }, { role }];
    await recordChange(tx, projectId, { action: 'member.updated', target: member.userId, before, after });
    return { ...member, role };
  });
}

/** Takes a member out of the project. @throws 403 for the caller and the owner, 404 for somebody who is no member */
export async function removeMember(db: Database, projectId: string, userId: string, callerId: string): Promise<void> {
  if (userId.toLowerCase() === callerId)
    throw forbidden('You cannot remove yourself: ask another admin', { reason: 'self' });
  const { email, role } = await memberOrRefuse(db, projectId, userId, 'The owner of a project cannot be removed');
  await db.transaction(async (tx) => {
    if ((await tx.em.nativeDelete(Membership, notOwner(projectId, userId))) === 0) throw noMember(userId);
    await recordChange(tx, projectId, {
      action: 'member.removed',
      target: userId.toLowerCase(),
      before: { email, role },
    });
  });
}

// The owner is what the row says at this moment, so that no order of requests takes a project its owner.
const notOwner = (projectId: string, userId: string) => ({ projectId, userId, role: { $ne: 'OWNER' } }) as const;

async function memberOrRefuse(db: Database, projectId: string, userId: string, refusal: string): Promise<Member> {
  if (!isUuid(userId)) throw noMember(userId);
  const member = await db.em.findOne(Membership, { projectId, userId });
  if (member === null) throw noMember(userId);
  if (member.role === 'OWNER') throw forbidden(refusal, { reason: 'owner' });
  const { id, email } = await db.em.findOneOrFail(User, member.userId);
  return { userId: id, email, role: member.role };
}

function noMember(userId: string): AppError {
  return new AppError(404, 'RESOURCE_NOT_FOUND', `No member of this project has the id ${userId}`, {
    details: { resource: 'member', id: userId },
  });
}
