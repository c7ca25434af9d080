import { field, nameSchemas } from '@fernpost/openapi/names';
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
