import { field } from '@fernpost/openapi/names';
import * as v from 'valibot';
import type { App } from '../../core/http/context.ts';
import { type Reply, reply, route } from '../../core/http/route.ts';
import { bareNotFound } from '../../core/lib/errors.ts';
import { equalSecrets } from '../../core/lib/seal.ts';
import { type OAuthName, type OAuthProvider, oauthNames } from './oauth.ts';
import { OAuthRefusal, oauthUser } from './oauth-service.ts';
import { cookie, readCookie } from './sessions.ts';
import { newSession } from './sign-in.ts';

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
