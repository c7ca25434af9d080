import { randomBytes } from 'node:crypto';
import { defineEntity } from '@mikro-orm/core';
import * as v from 'valibot';
import type { AccountMailSettings } from '../../accounts/account-service.ts';
import { User } from '../../accounts/entity.ts';
import { insertUser, takeAttempt } from '../../accounts/queries.ts';
import { Password, Token } from '../../accounts/schema.ts';
import { hashPassword } from '../../accounts/sign-in.ts';
import { queueSystemMails } from '../../accounts/system-mail/service.ts';
import type { Config } from '../../lib/config/config.ts';
import { roles } from '../../lib/enums.ts';
import { badRequest, conflict, forbidden, notFound } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { sha256 } from '../../lib/seal.ts';
import { field, Instant, nameSchemas, Uuid } from '../../lib/validation/fields.ts';
import { baseColumns, isoInstant } from '../../store/columns.ts';
import type { OutboxTicket } from '../../store/outbox/queries.ts';
import { type Database, sql } from '../../store/sql.ts';
import { recordChange } from '../audit/record.ts';
import { AddMember, join } from '../member-service.ts';
import { Membership, ofProject, Project } from '../queries.ts';

const p = defineEntity.properties;

/** An address that may join a project by the link of a mail. The row goes when somebody does. */
export const Invitation = defineEntity({
  name: 'Invitation',
  tableName: 'project_invitations',
  properties: {
    id: baseColumns.id,
    projectId: ofProject(),
    email: p.text(),
    role: p.enum(['ADMIN', 'MEMBER'] as const),
    tokenHash: p.blob().unique(),
    invitedBy: p.manyToOne(User).mapToPk().deleteRule('set null').updateRule('no action').nullable(),
    createdAt: baseColumns.createdAt,
    expiresAt: p.datetime(3),
  },
  uniques: [{ name: 'project_invitations_address', properties: ['projectId', 'email'] }],
  indexes: [{ name: 'project_invitations_inviter', properties: ['invitedBy'] }],
});

/** Writes an invitation, in place of an earlier one for the address. Only the hash of the token is kept; it works for seven days. */
export async function writeInvitation(
  tx: Database,
  projectId: string,
  { email, role }: Invite,
  inviter: { id: string; email: string },
  token: string,
): Promise<InvitationBody> {
  const row = await tx.row<{ id: string; createdAt: string; expiresAt: string }>(sql`
    insert into project_invitations as i (id, project_id, email, role, token_hash, invited_by, expires_at)
      values (${newId()}, ${projectId}, ${email}, ${role}, ${sha256(token)}, ${inviter.id}, now() + interval '7 days')
      on conflict (project_id, email) do update set role = excluded.role, token_hash = excluded.token_hash,
        invited_by = excluded.invited_by, created_at = now(), expires_at = excluded.expires_at
      returning id, created_at::text as "createdAt", expires_at::text as "expiresAt"`);
  if (row === null) throw new Error('The invitation was not written');
  return { email, role, invitedBy: inviter.email, ...withInstants(row) };
}

/** Returns the open invitations of a project, newest first, up to 500; expired ones too, to be sent again. */
export async function openInvitations(db: Database, projectId: string): Promise<InvitationBody[]> {
  const rows = await db.rows<InvitationBody>(sql`
    select i.id, i.email, i.role, u.email as "invitedBy", i.created_at::text as "createdAt", i.expires_at::text as "expiresAt"
      from project_invitations i left join users u on u.id = i.invited_by
      where i.project_id = ${projectId} order by i.created_at desc, i.id desc limit 500`);
  return rows.map(withInstants);
}

const withInstants = <Row extends { createdAt: string; expiresAt: string }>(row: Row): Row => ({
  ...row,
  createdAt: isoInstant(row.createdAt),
  expiresAt: isoInstant(row.expiresAt),
});

/** Reads an invitation by its token, as its reader sees it; null for a token that does not work. */
export async function invitationOf(db: Database, token: string): Promise<FoundInvitation | null> {
  const row = await db.row<Omit<FoundInvitation, 'project'> & { projectId: string; name: string }>(sql`
    select p.id as "projectId", p.name, i.email, i.role, inviter.email as "invitedBy", i.expires_at::text as "expiresAt",
        exists (select from users where email = i.email) as "hasAccount"
      from project_invitations i join projects p on p.id = i.project_id and p.deleted_at is null
        left join users inviter on inviter.id = i.invited_by
      where i.token_hash = ${sha256(token)} and i.expires_at > clock_timestamp()`);
  if (row === null) return null;
  const { projectId, name, expiresAt, ...rest } = row;
  return { project: { id: projectId, name }, ...rest, expiresAt: isoInstant(expiresAt) };
}

/** Uses an invitation up. Returns null for one that is unknown, used, expired or for another address. */
export async function takeInvitation(
  tx: Database,
  token: string,
  email: string,
): Promise<{ id: string; projectId: string; role: 'ADMIN' | 'MEMBER' } | null> {
  return tx.row(sql`
    delete from project_invitations i using projects p
      where i.token_hash = ${sha256(token)} and i.expires_at > clock_timestamp() and i.email = ${email}
        and p.id = i.project_id and p.deleted_at is null
      returning i.id, i.project_id as "projectId", i.role`);
}

/** `POST /projects/{id}/invitations`. */
export const Invite = AddMember;
export type Invite = AddMember;

/** An invitation, as members see it. */
export const InvitationBody = v.object({
  id: field('ID of the invitation.', Uuid),
  email: field('Email address that was invited.', v.string()),
  role: field('Role that the member will have.', v.picklist(roles)),
  invitedBy: field(
    'Email address of the member who sent the invitation; null when that account no longer exists.',
    v.nullable(v.string()),
  ),
  createdAt: field('Time at which the invitation was created.', Instant),
  expiresAt: field('Time at which the invitation expires.', Instant),
});
export type InvitationBody = v.InferOutput<typeof InvitationBody>;

/** `POST /invitations/find` and `POST /invitations/accept`. */
export const WithToken = v.object({ token: field('Token from the link in the invitation, 64 characters.', Token) });
/** `POST /invitations/sign-up`. */
export const AcceptAndSignUp = v.object({
  token: field('Token from the link in the invitation, 64 characters.', Token),
  password: field('Password of the new account, 6 to 1,024 characters.', Password),
});
export type AcceptAndSignUp = v.InferOutput<typeof AcceptAndSignUp>;

/** An invitation, as its reader sees it. */
export const FoundInvitation = v.object({
  project: field(
    'The project that the invitation is for.',
    v.object({ id: field('ID of the project.', Uuid), name: field('Name of the project.', v.string()) }),
  ),
  email: field('Email address that was invited.', v.string()),
  role: field('Role that the member will have.', v.picklist(roles)),
  invitedBy: field(
    'Email address of the member who sent the invitation; null when that account no longer exists.',
    v.nullable(v.string()),
  ),
  hasAccount: field('Whether the invited address already has an account.', v.boolean()),
  expiresAt: field('Time at which the invitation expires.', Instant),
});
export type FoundInvitation = v.InferOutput<typeof FoundInvitation>;

/** The project that was joined. */
export const JoinedProject = v.object({
  success: field('Always true.', v.literal(true)),
  data: field(
    'The accepted invitation.',
    v.object({ projectId: field('ID of the project that the user joined.', v.string()) }),
  ),
});

nameSchemas({ Invitation: InvitationBody, FoundInvitation });

const badToken = () =>
  badRequest('This invitation is unknown, already used or older than seven days: ask for a new one');

/** An invitation to send, with its sender. */
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
    const project = await tx.em.findOne(Project, { id: projectId }, { fields: ['name'] });
    if (project === null) throw notFound('project', projectId);
    const user = await tx.em.findOne(User, { email: wish.email });
    if (user !== null && (await tx.em.count(Membership, { projectId, userId: user.id })) > 0)
      throw conflict(`${wish.email} is a member already`);
    const token = randomBytes(32).toString('hex');
    const invitation = await writeInvitation(tx, projectId, wish, inviter, token);
    const link = `${settings.DASHBOARD_URI}/auth/invitation?token=${token}`;
    const values = { project: project.name, inviter: inviter.email };
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

/** Reads the invitation behind a link. @throws 400 */
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
  return db.transaction((tx) => accept(tx, token, user));
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
    await accept(tx, token, user);
    return user;
  });
}

async function accept(tx: Database, token: string, user: { id: string; email: string }): Promise<string> {
  const invitation = await takeInvitation(tx, token, user.email);
  if (invitation === null) throw badToken();
  const { projectId, role } = invitation;
  await tx.em.nativeUpdate(User, { id: user.id, emailVerified: false }, { emailVerified: true, updatedAt: new Date() });
  await join(tx, projectId, user, role);
  return projectId;
}
