import { randomBytes } from 'node:crypto';
import type { Config } from '../../core/config/config.ts';
import { type Database, sql } from '../../core/database/sql.ts';
import { badRequest, conflict, forbidden, notFound } from '../../core/lib/errors.ts';
import type { OutboxTicket } from '../../core/outbox/enqueue.ts';
import { type AccountMailSettings, hashPassword, insertUser, takeAttempt, User } from '../accounts/index.ts';
import { recordChange } from '../audit/index.ts';
import { queueSystemMails } from '../system-mail/index.ts';
import { Invitation } from './entity.ts';
import { invitationOf, takeInvitation, writeInvitation } from './queries.ts';
import type { AcceptAndSignUp, FoundInvitation, InvitationBody, Invite } from './schema.ts';

const badToken = () =>
  badRequest('This invitation is unknown, already used or older than seven days: ask for a new one');

/** Who invites whom to what. */
interface Inviting {
  projectId: string;
  inviter: { id: string; email: string };
  wish: Invite;
  /** The `Accept-Language` of the request. */
  language: string;
}

/**
 * Invites an address to a project by mail, with or without an account; a second invitation replaces the first.
 * @throws 409 for a member, 429 after 30 invitations of one person or three to one address within an hour
 */
export async function invite(
  db: Database,
  settings: AccountMailSettings,
  { projectId, inviter, wish, language }: Inviting,
): Promise<{ invitation: InvitationBody; tickets: OutboxTicket[] }> {
  const hour = { seconds: 3600 } as const;
  await takeAttempt(
    db,
    { scope: 'invitation', subject: inviter.id, limit: 30, ...hour },
    'At most 30 invitations an hour',
  );
  const perAddress = { scope: 'invitation-mail', subject: wish.email, limit: 3, ...hour } as const;
  await takeAttempt(db, perAddress, 'This address was invited three times within the hour');
  return db.transaction(async (tx) => {
    const member = await tx.row<{ project: string; joined: boolean }>(sql`
      select p.name as project, exists (select from memberships m join users u on u.id = m.user_id
          where m.project_id = p.id and u.email = ${wish.email}) as joined
        from projects p where p.id = ${projectId}`);
    if (member === null) throw notFound('project', projectId);
    if (member.joined) throw conflict(`${wish.email} is a member already`);
    const token = randomBytes(32).toString('hex');
    const invitation = await writeInvitation(tx, projectId, wish, inviter, token);
    const link = `${settings.DASHBOARD_URI}/auth/invitation?token=${token}`;
    const values = { project: member.project, inviter: inviter.email };
    const tickets = await queueSystemMails(tx, settings, [
      { kind: 'invitation', to: wish.email, language, link, values },
    ]);
    await recordChange(tx, projectId, { action: 'invitation.created', target: invitation.id, after: { ...wish } });
    return { invitation, tickets };
  });
}

/** Takes an invitation back: its link stops working. @throws 404 */
export async function revokeInvitation(db: Database, projectId: string, id: string): Promise<void> {
  await db.transaction(async (tx) => {
    const invitation = await tx.em.findOne(Invitation, { id, projectId });
    if (invitation === null || (await tx.em.nativeDelete(Invitation, { id, projectId })) === 0)
      throw notFound('invitation', id);
    const { email, role } = invitation;
    await recordChange(tx, projectId, { action: 'invitation.revoked', target: id, before: { email, role } });
  });
}

/** What the link of an invitation offers. @throws 400 */
export async function findInvitation(db: Database, token: string): Promise<FoundInvitation> {
  const found = await invitationOf(db, token);
  if (found === null) throw badToken();
  return found;
}

/**
 * Makes a signed-in user a member of the project they were invited to. The link proves that the address is theirs, so that it
 * counts as confirmed. Answers the project. @throws 400; 403 for another address than the invited one
 */
export async function acceptInvitation(
  db: Database,
  token: string,
  user: { id: string; email: string },
): Promise<string> {
  const { email } = await findInvitation(db, token);
  if (email !== user.email)
    throw forbidden(`This invitation is for ${email}: sign in with that address`, { reason: 'address' });
  return db.transaction((tx) => join(tx, token, user));
}

/**
 * Creates the account of an invited address and makes it a member. Works where sign-ups are disabled too, for a member of a project
 * has asked for it. @throws 400; 409 for an address with an account
 */
export async function signUpInvited(
  db: Database,
  { mailLeaves }: Pick<Config, 'mailLeaves'>,
  { token, password }: AcceptAndSignUp,
): Promise<{ id: string; email: string; sessionVersion: number }> {
  const { email, hasAccount } = await findInvitation(db, token);
  const taken = () => conflict('This address already has an account: sign in to accept the invitation');
  if (hasAccount) throw taken();
  const passwordHash = await hashPassword(password);
  return db.transaction(async (tx) => {
    // Trust comes from the project that invited them (see `createsTrusted`).
    const facts = { passwordHash, type: 'PASSWORD', emailVerified: true, selfRegistered: mailLeaves } as const;
    const user = await insertUser(tx, { email, ...facts });
    if (user === null) throw taken();
    await join(tx, token, user);
    return user;
  });
}

async function join(tx: Database, token: string, user: { id: string; email: string }): Promise<string> {
  const invitation = await takeInvitation(tx, token, user.email);
  if (invitation === null) throw badToken();
  const { projectId, role } = invitation;
  const added = await tx.count(sql`
    insert into memberships (project_id, user_id, role) values (${projectId}, ${user.id}, ${role}) on conflict do nothing`);
  await tx.em.nativeUpdate(User, { id: user.id, emailVerified: false }, { emailVerified: true, updatedAt: new Date() });
  if (added > 0)
    await recordChange(tx, projectId, { action: 'member.added', target: user.id, after: { email: user.email, role } });
  return projectId;
}
