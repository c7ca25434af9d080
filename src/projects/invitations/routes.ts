import * as v from 'valibot';
import { SignedIn } from '../../accounts/schema.ts';
import { signedIn } from '../../accounts/sign-in.ts';
import { route } from '../../http/route.ts';
import { field } from '../../lib/validation/fields.ts';
import {
  AcceptAndSignUp,
  acceptInvitation,
  FoundInvitation,
  findInvitation,
  InvitationBody,
  Invite,
  invite,
  JoinedProject,
  openInvitations,
  revokeInvitation,
  signUpInvited,
  WithToken,
} from './service.ts';

const changes = { access: 'project', role: 'ADMIN', refusesKeys: true, tag: 'members' } as const;
const token = '0123456789abcdef'.repeat(4);

/** Inviting people to a project by mail, and accepting. */
export const invitationRoutes = [
  route.get('/projects/:id/invitations', {
    access: 'project',
    summary: 'List pending invitations',
    operationId: 'listInvitations',
    tag: 'members',
    returns: 'The pending invitations, newest first.',
    reply: v.object({ data: field('Open invitations of the project.', v.array(InvitationBody)) }),
    handle: async ({ db, project }) => ({ data: await openInvitations(db, project.id) }),
  }),
  route.post('/projects/:id/invitations', {
    ...changes,
    refusals: [409, 422, 429],
    summary: 'Invite an address by email',
    operationId: 'inviteMember',
    description:
      'The address needs no account. The link works once and for seven days; inviting the address again replaces it.',
    status: 201,
    body: Invite,
    example: { email: 'alan@acme.com', role: 'MEMBER' },
    returns: 'The invitation; its link is only in the email.',
    reply: InvitationBody,
    async handle({ app, db, project, actor, body, header }) {
      // Keys are refused before.
      const inviter = actor.kind === 'user' ? { id: actor.userId, email: actor.email } : { id: '', email: '' };
      const wish = { projectId: project.id, inviter, wish: body, language: header('accept-language') };
      const { invitation, tickets } = await invite(db, app.config, wish);
      app.outbox.dispatchSoon(...tickets);
      return invitation;
    },
  }),
  route.delete('/projects/:id/invitations/:invitationId', {
    ...changes,
    summary: 'Revoke an invitation',
    operationId: 'revokeInvitation',
    ids: { invitationId: 'invitation' },
    status: 204,
    returns: 'The invitation is revoked: its link no longer works.',
    handle: ({ db, project, params }) => revokeInvitation(db, project.id, params.invitationId),
  }),
  route.post('/invitations/find', {
    access: 'none',
    refusals: [400],
    summary: 'Look up an invitation by the token from the email',
    operationId: 'findInvitation',
    tag: 'members',
    body: WithToken,
    example: { token },
    returns: 'The project, role and address of the invitation, and whether the address has an account.',
    reply: FoundInvitation,
    handle: ({ db, body }) => findInvitation(db, body.token),
  }),
  route.post('/invitations/accept', {
    access: 'cookie',
    ungated: true,
    refusals: [400, 403],
    summary: 'Accept an invitation with your account',
    operationId: 'acceptInvitation',
    tag: 'members',
    body: WithToken,
    example: { token },
    returns: 'The ID of the project that you are now a member of.',
    reply: JoinedProject,
    handle: async ({ db, actor, body }) => ({
      success: true,
      data: { projectId: await acceptInvitation(db, body.token, { id: actor.userId, email: actor.email }) },
    }),
  }),
  route.post('/invitations/sign-up', {
    access: 'none',
    refusals: [400, 409],
    summary: 'Accept an invitation with a new account',
    operationId: 'acceptInvitationWithNewAccount',
    description: 'Also signs in, and works where sign-ups are disabled. The address counts as confirmed.',
    tag: 'members',
    body: AcceptAndSignUp,
    example: { token, password: 'correct horse battery' },
    returns: 'The new user, now a member of the project; the response sets the session cookie.',
    reply: SignedIn,
    handle: async (request) => signedIn(request, await signUpInvited(request.db, request.app.config, request.body)),
  }),
];
