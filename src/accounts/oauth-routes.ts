import * as v from 'valibot';
import type { App } from '../http/context.ts';
import { type Reply, reply, route } from '../http/route.ts';
import { bareNotFound } from '../lib/errors.ts';
import { equalSecrets } from '../lib/seal.ts';
import { field } from '../lib/validation/fields.ts';
import { requestPasswordReset, requestVerification, resetPassword, verifyEmail } from './account-service.ts';
import { refuseSignUps, signUp } from './login-service.ts';
import { type OAuthName, type OAuthProvider, OAuthRefusal, oauthNames, oauthUser } from './oauth.ts';
import { Credentials, MessageReply, RequestReset, ResetPassword, SignedIn, VerifyEmail } from './schema.ts';
import { cookie, readCookie } from './sessions.ts';
import { newSession, signedIn } from './sign-in.ts';
import { verifyAddress } from './verification/addresses/verify.ts';

const flowCookie = 'fernpost_oauth';
const flowMinutes = 10;

const redirect = { access: 'none', tag: 'auth', status: 302 } as const;

/** Sign-in by GitHub and Google, where they are set up. */
export const oauthRoutes = [
  route.get('/oauth/:provider/outbound', {
    bareRefusals: [404],
    pathTexts: { provider: 'Sign-in provider: `github` or `google`.' },
    ...redirect,
    refusals: [404],
    summary: 'Start signing in with GitHub or Google',
    operationId: 'startOAuth',
    returns: 'Redirects to the sign-in page of the provider.',
    handle({ app, params }) {
      const { name, provider } = providerOf(app, params.provider);
      const { url, state, verifier } = provider.start();
      const ends = new Date(app.clock().getTime() + flowMinutes * 60_000);
      const kept = cookie(flowCookie, `${name}.${state}.${verifier}`, app.config, ends);
      return reply(302, undefined, { Location: url, 'Set-Cookie': kept, 'Cache-Control': 'no-store' });
    },
  }),
  route.get('/oauth/:provider/callback', {
    bareRefusals: [404],
    pathTexts: { provider: 'Sign-in provider: `github` or `google`.' },
    ...redirect,
    refusals: [404],
    summary: 'Finish signing in with GitHub or Google',
    operationId: 'finishOAuth',
    description:
      'Sets the session cookie and redirects to the dashboard; failures redirect to its sign-in page with a message.',
    query: v.object({
      code: field('Authorization code from the provider; absent when the user declined.', v.optional(v.string())),
      state: field('The `state` that the sign-in was started with.', v.optional(v.string())),
      error: field('Why the provider refused the sign-in; absent when it succeeded.', v.optional(v.string())),
    }),
    returns: 'Redirects to the dashboard and sets the session cookie, or to the sign-in page with a message.',
    async handle(request) {
      const { app, db, params, query, header, log } = request;
      const { name, provider } = providerOf(app, params.provider);
      const [begunWith = '', state = '', verifier = ''] = (readCookie(header('cookie'), flowCookie) ?? '').split('.');
      if (query.error !== undefined) return back(app, 'The sign-in was cancelled');
      if (begunWith !== name || !query.code || !query.state || state === '' || !equalSecrets(state, query.state))
        return back(app, 'This sign-in was not begun here, or is too old: try again');
      try {
        const email = await provider.addressOf(query.code, verifier);
        if (email === null) return back(app, 'The provider has no confirmed address of yours');
        const user = await oauthUser(db, email, provider.accountType, app.config);
        return back(app, null, await newSession(request, user));
      } catch (error) {
        if (error instanceof OAuthRefusal) return back(app, error.message);
        log.warn({ err: error, provider: name }, 'a provider of sign-in did not serve');
        return back(app, 'The provider could not be asked: try again later');
      }
    },
  }),
];

function providerOf(app: App, named = ''): { name: OAuthName; provider: OAuthProvider } {
  const name = oauthNames.find((one) => one === named);
  const provider = name && app.oauth[name];
  if (!name || !provider) throw bareNotFound('Sign-in by this provider is not set up');
  return { name, provider };
}

// The state works once: whatever became of it, it is gone afterwards.
function back({ config }: App, failure: string | null, session?: string): Reply {
  const over = cookie(flowCookie, '', config, new Date(0));
  const place = failure === null ? '' : `/auth/login?message=${encodeURIComponent(failure)}`;
  return reply(302, undefined, {
    Location: `${config.DASHBOARD_URI}${place}`,
    'Set-Cookie': session === undefined ? [over] : [over, session],
    'Cache-Control': 'no-store',
  });
}

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
    returns: 'The user; the response sets the session cookie.',
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
    returns: 'The address is verified; `data.message` says so.',
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
    returns: 'A new email is sent, unless the address is already verified; `data.message` says which.',
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
    returns: 'The same message for every address: a link is sent if it has an account with a password.',
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
    returns: 'The password is changed. Sign in with the new one.',
    reply: MessageReply,
    async handle({ db, body }) {
      await resetPassword(db, body.token, body.newPassword);
      return said('Your password was reset: sign in with the new one');
    },
  }),
];
