import { nameSchemas } from '@fernpost/openapi/names';
import { Instant, Uuid } from '@fernpost/validation';
import * as v from 'valibot';
import { roles } from '../../core/lib/roles.ts';
import { Password, Token } from '../accounts/index.ts';
import { AddMember } from '../projects/index.ts';

/** `POST /projects/{id}/invitations`. */
export const Invite = AddMember;
export type Invite = AddMember;

/** An invitation, as members see it. */
export const InvitationBody = v.object({
  id: Uuid,
  email: v.string(),
  role: v.picklist(roles),
  invitedBy: v.nullable(v.string()),
  createdAt: Instant,
  expiresAt: Instant,
});
export type InvitationBody = v.InferOutput<typeof InvitationBody>;

/** `POST /invitations/find` and `POST /invitations/accept`. */
export const WithToken = v.object({ token: Token });
/** `POST /invitations/sign-up`. */
export const AcceptAndSignUp = v.object({ token: Token, password: Password });
export type AcceptAndSignUp = v.InferOutput<typeof AcceptAndSignUp>;

/** An invitation, as its reader sees it. */
export const FoundInvitation = v.object({
  project: v.object({ id: Uuid, name: v.string() }),
  email: v.string(),
  role: v.picklist(roles),
  invitedBy: v.nullable(v.string()),
  hasAccount: v.boolean(),
  expiresAt: Instant,
});
export type FoundInvitation = v.InferOutput<typeof FoundInvitation>;

/** The project that was joined. */
export const JoinedProject = v.object({ success: v.literal(true), data: v.object({ projectId: v.string() }) });

nameSchemas({ Invitation: InvitationBody, FoundInvitation });
