import * as v from 'valibot';
import { trustedOrigins } from '../../core/http/origins.ts';
import { reply, route } from '../../core/http/route.ts';
import { forbidden } from '../../core/lib/errors.ts';
import { checkCredentials } from './login-service.ts';
import { Credentials, OAuthConfig, SignedIn, UserBody } from './schema.ts';
import { endSession } from './session-queries.ts';
import { endedSessionHeaders, readSession, sessionHash, sessionTokens } from './sessions.ts';
import { signedIn } from './sign-in.ts';

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
    reply: UserBody,
    handle: ({ actor }) => ({ id: actor.userId, email: actor.email }),
  }),
];
