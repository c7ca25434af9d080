import { isoInstant } from '../../core/database/columns.ts';
import { type Database, sql } from '../../core/database/sql.ts';
import { newId } from '../../core/lib/ids.ts';
import { sha256 } from '../../core/lib/seal.ts';
import type { FoundInvitation, InvitationBody, Invite } from './schema.ts';

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

/** The invitations of a project that nobody has accepted, the latest first; those that are too old too, to be sent again. */
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

/** What the reader of an invitation is told, while its token works. */
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

/** Uses an invitation up. Null when it is unknown, used, too old, or for another address than this. */
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
