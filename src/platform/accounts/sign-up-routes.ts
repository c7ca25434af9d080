import { verifyAddress } from '@fernpost/address-verification';
import { route } from '../../core/http/route.ts';
import { requestPasswordReset, requestVerification, resetPassword, verifyEmail } from './confirm-service.ts';
import { Credentials, MessageReply, RequestReset, ResetPassword, SignedIn, VerifyEmail } from './schema.ts';
import { signedIn } from './sign-in.ts';
import { refuseSignUps, signUp } from './sign-up-service.ts';

const said = (message: string) => ({ success: true, data: { message } });

const open = { access: 'none' } as const;

/** Getting an account, and getting back into one. */
export const signUpRoutes = [
  route.post('/auth/signup', {
    ...open,
    refusals: [403, 409, 422, 429],
    summary: 'Sign up with a password',
    operationId: 'signUp',
    description:
      'Also signs in. Where addresses are confirmed by email, a taken address gets the same answer as a new one, and its owner gets an email.',
    guard: ({ config }) => refuseSignUps(config),
    body: Credentials,
    example: { email: 'grace@acme.com', password: 'correct horse battery' },
    reply: SignedIn,
    async handle(request) {
      const { app, db, body, ip, header } = request;
      const verify = (email: string) => verifyAddress(email, app);
      const deps = { db, settings: app.config, verify, ip, language: header('accept-language') };
      const { user, tickets } = await signUp(deps, body);
      app.outbox.dispatchSoon(...tickets);
      return signedIn(request, user);
    },
  }),
  route.post('/auth/verify-email', {
    ...open,
    refusals: [400, 422],
    summary: 'Confirm an address with the token from the email',
    operationId: 'confirmAddress',
    body: VerifyEmail,
    example: { token: '0123456789abcdef'.repeat(4) },
    reply: MessageReply,
    async handle({ db, body }) {
      await verifyEmail(db, body.token);
      return said('Your address is verified');
    },
  }),
  route.post('/auth/request-verification', {
    access: 'cookie',
    ungated: true,
    summary: 'Send the confirmation email again',
    operationId: 'requestConfirmation',
    description: 'At most three an hour.',
    reply: MessageReply,
    async handle({ app, db, actor, header }) {
      const tickets = await requestVerification(db, app.config, actor.userId, header('accept-language'));
      if (tickets === null) return said('Your address is verified already');
      app.outbox.dispatchSoon(...tickets);
      return said('A new mail was sent');
    },
  }),
  route.post('/auth/request-password-reset', {
    ...open,
    refusals: [422],
    summary: 'Request a password reset',
    operationId: 'requestPasswordReset',
    description: 'The answer is the same whether or not the address has an account.',
    body: RequestReset,
    example: { email: 'grace@acme.com' },
    reply: MessageReply,
    async handle({ app, db, body, header }) {
      app.outbox.dispatchSoon(...(await requestPasswordReset(db, app.config, body.email, header('accept-language'))));
      return said('If this address has an account with a password, a link was sent to it');
    },
  }),
  route.post('/auth/reset-password', {
    ...open,
    refusals: [400],
    summary: 'Set a new password with the token from the email',
    operationId: 'resetPassword',
    description: 'Ends every session of the account. Does not sign in.',
    body: ResetPassword,
    example: { token: '0123456789abcdef'.repeat(4), newPassword: 'correct horse battery' },
    reply: MessageReply,
    async handle({ db, body }) {
      await resetPassword(db, body.token, body.newPassword);
      return said('Your password was reset: sign in with the new one');
    },
  }),
];
