import * as v from 'valibot';
import { trustedOrigins } from '../http/app.ts';
import { reply, route } from '../http/route.ts';
import { AppError, forbidden } from '../lib/errors.ts';
import { isUuid } from '../lib/ids.ts';
import { field } from '../lib/validation/fields.ts';
import { changePassword } from './account-service.ts';
import { User } from './entity.ts';
import { checkCredentials } from './login-service.ts';
import {
  Account,
  ChangePassword,
  Credentials,
  MessageReply,
  OAuthConfig,
  SessionBody,
  SignedIn,
  UserBody,
} from './schema.ts';
import {
  endAllSessions,
  endedSessionHeaders,
  endListedSession,
  endSession,
  openSessions,
  readSession,
  sessionHash,
  sessionTokens,
} from './sessions.ts';
import { newSession, signedIn } from './sign-in.ts';

const mine = { access: 'cookie', tag: 'auth' } as const;

/** Routes of the caller's own account. */
export const accountRoutes = [
  route.get('/users/@me/account', {
    ...mine,
    summary: 'Get your account',
    operationId: 'getAccount',
    returns: 'Your account, with how you sign in and whether your address is verified.',
    reply: Account,
    async handle({ db, actor }) {
      const { id, email, type, emailVerified, createdAt } = await db.em.findOneOrFail(User, actor.userId);
      return { id, email, type, emailVerified, createdAt: createdAt.toISOString() };
    },
  }),
  route.post('/users/@me/password', {
    ...mine,
    refusals: [409, 422, 429],
    summary: 'Change your password',
    operationId: 'changePassword',
    description: 'Signs out everywhere else, and tells you by email.',
    body: ChangePassword,
    example: { currentPassword: 'correct horse battery', newPassword: 'a long walk by the sea' },
    returns: 'The password is changed, and the response sets a new session cookie.',
    reply: MessageReply,
    async handle(request) {
      const { app, db, actor, body, header } = request;
      const deps = { db, settings: app.config, language: header('accept-language') };
      const { sessionVersion, tickets } = await changePassword(deps, actor.userId, body);
      app.outbox.dispatchSoon(...tickets);
      const cookie = await newSession(request, { id: actor.userId, sessionVersion });
      return reply(200, said('Your password was changed'), { 'Set-Cookie': cookie });
    },
  }),
  route.get('/users/@me/sessions', {
    ...mine,
    summary: 'List where you are signed in',
    operationId: 'listSessions',
    description: 'The latest sign-in first, at most 100.',
    returns: 'Your open sessions, latest sign-in first; `current` marks this one.',
    reply: v.object({ data: field('Sessions of the account.', v.array(SessionBody)) }),
    handle: async ({ db, actor, header }) => ({
      data: await openSessions(db, actor.userId, sessionHash(sessionTokens(header('cookie'))[0] ?? '')),
    }),
  }),
  route.delete('/users/@me/sessions/:sessionId', {
    ...mine,
    summary: 'Sign out one session',
    operationId: 'endSession',
    refusals: [404],
    status: 204,
    returns: 'The session is ended.',
    async handle({ db, actor, params }) {
      const id = params.sessionId;
      if (!isUuid(id) || !(await endListedSession(db, actor.userId, id)))
        throw new AppError(404, 'RESOURCE_NOT_FOUND', `You have no open session with id ${id}`, {
          details: { resource: 'session', id },
        });
    },
  }),
  route.delete('/users/@me/sessions', {
    ...mine,
    summary: 'Sign out everywhere else',
    operationId: 'endOtherSessions',
    description: 'Ends every session but the one that asks, which gets a new cookie.',
    returns: 'All other sessions are ended, and the response sets a new cookie for this one.',
    reply: MessageReply,
    async handle(request) {
      const { db, actor } = request;
      const sessionVersion = await db.transaction((tx) => endAllSessions(tx, actor.userId));
      const cookie = await newSession(request, { id: actor.userId, sessionVersion });
      return reply(200, said('You are signed out everywhere else'), { 'Set-Cookie': cookie });
    },
  }),
];

const said = (message: string) => ({ success: true, data: { message } });

/** Signing in and out with a password, and who is signed in. */
export const authRoutes = [
  route.post('/auth/login', {
    refusals: [401, 422, 429],
    access: 'none',
    summary: 'Sign in with a password',
    operationId: 'signIn',
    description:
      'Sets the session cookie for seven days. Five failed attempts lock an address for 15 minutes, and a hundred from one network lock the network, unless the operator has set other limits.',
    body: Credentials,
    example: { email: 'grace@acme.com', password: 'correct horse battery' },
    returns: 'The user who signed in; the response sets the session cookie.',
    reply: SignedIn,
    async handle(request) {
      const { app, db, body, ip } = request;
      return signedIn(request, await checkCredentials(db, app.config, body, ip));
    },
  }),
  route.get('/auth/logout', {
    refusals: [403],
    access: 'none',
    summary: 'Sign out',
    operationId: 'signOut',
    description:
      'Ends this session on the server, including copies of its cookie, and clears the cookie. Works without one. Pages of other sites cannot call it.',
    returns: 'The value `true`, with headers that clear the session cookie.',
    reply: v.literal(true),
    async handle({ app, db, header }) {
      // A picture or a link on any page would sign people out; browsers say where a request comes from.
      if (header('sec-fetch-site') === 'cross-site' && !trustedOrigins(app.config).has(header('origin')))
        throw forbidden('Signing out is only possible from the dashboard');
      for (const token of sessionTokens(header('cookie'))) {
        const session = await readSession(token, app.config.sessionSecrets, app.clock());
        if (session !== null) await endSession(db, sessionHash(token));
      }
      // Koa would send a bare boolean as text.
      return reply(200, 'true', { 'Content-Type': 'application/json', 'Set-Cookie': endedSessionHeaders(app.config) });
    },
  }),
  route.get('/auth/oauth-config', {
    access: 'none',
    summary: 'List the configured sign-in providers',
    operationId: 'getSignInProviders',
    returns: 'Whether users can sign in with GitHub and with Google.',
    reply: OAuthConfig,
    handle: ({ app: { config } }) => ({
      success: true,
      data: { github: config.GITHUB_OAUTH_CLIENT !== null, google: config.GOOGLE_OAUTH_CLIENT !== null },
    }),
  }),
  route.get('/users/@me', {
    access: 'cookie',
    summary: 'Get the signed-in user',
    operationId: 'getUser',
    returns: 'Your ID and address.',
    reply: UserBody,
    handle: ({ actor }) => ({ id: actor.userId, email: actor.email }),
  }),
];
