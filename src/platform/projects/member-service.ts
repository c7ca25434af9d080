import type { Database } from '../../core/database/sql.ts';
import { AppError, conflict, forbidden } from '../../core/lib/errors.ts';
import { isUuid } from '../../core/lib/ids.ts';
import { User } from '../accounts/index.ts';
import { addMembership, changeMembership, findMember, removeMembership } from './member-queries.ts';
import type { Member } from './member-schema.ts';

/** Makes the user with this address a member. @throws 404 without such an account, 409 for a member */
export async function addMember(
  db: Database,
  projectId: string,
  { email, role }: { email: string; role: 'ADMIN' | 'MEMBER' },
): Promise<Member> {
  const user = await db.em.findOne(User, { email });
  if (user === null)
    throw new AppError(404, 'RESOURCE_NOT_FOUND', `No account has the address ${email}: its owner must sign up first`, {
      details: { resource: 'user', id: email },
    });
  if (!(await addMembership(db, projectId, user.id, role))) throw conflict(`${email} is a member already`);
  return { userId: user.id, email, role };
}

/** Gives a member another role. @throws 403 for the owner, 404 for somebody who is no member */
export async function changeMember(
  db: Database,
  projectId: string,
  userId: string,
  role: 'ADMIN' | 'MEMBER',
): Promise<Member> {
  const member = await memberOrRefuse(db, projectId, userId, 'The owner keeps the role OWNER');
  if (!(await changeMembership(db, projectId, userId, role))) throw noMember(userId);
  return { ...member, role };
}

/** Takes a member out of the project. @throws 403 for the caller and the owner, 404 for somebody who is no member */
export async function removeMember(db: Database, projectId: string, userId: string, callerId: string): Promise<void> {
  if (userId.toLowerCase() === callerId)
    throw forbidden('You cannot remove yourself: ask another admin', { reason: 'self' });
  await memberOrRefuse(db, projectId, userId, 'The owner of a project cannot be removed');
  if (!(await removeMembership(db, projectId, userId))) throw noMember(userId);
}

async function memberOrRefuse(db: Database, projectId: string, userId: string, refusal: string): Promise<Member> {
  const member = isUuid(userId) ? await findMember(db, projectId, userId) : null;
  if (member === null) throw noMember(userId);
  if (member.role === 'OWNER') throw forbidden(refusal, { reason: 'owner' });
  return member;
}

function noMember(userId: string): AppError {
  return new AppError(404, 'RESOURCE_NOT_FOUND', `No member of this project has the id ${userId}`, {
    details: { resource: 'member', id: userId },
  });
}
