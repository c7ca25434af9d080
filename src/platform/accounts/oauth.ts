import { CodeChallengeMethod, generateCodeVerifier, generateState, OAuth2Client } from 'arctic';
import * as v from 'valibot';
import { normaliseEmail } from '../../core/lib/email-address.ts';
import type { AccountType } from './queries.ts';

declare module '../../core/http/context.ts' {
  interface App {
    /** Providers of sign-in that are set up. */
    oauth: OAuthProviders;
  }
}

/** The providers of sign-in. */
export const oauthNames = ['github', 'google'] as const;
export type OAuthName = (typeof oauthNames)[number];

/** Where a provider is reached. `identity` answers who the user is. */
export interface OAuthEndpoints {
  authorize: string;
  token: string;
  identity: string;
}

/** What a browser takes along to the provider and brings back. */
interface OAuthStart {
  url: string;
  state: string;
  /** Proves at the end that the sign-in is the one that was begun (PKCE). */
  verifier: string;
}

/** A provider of sign-in that is set up. */
export interface OAuthProvider {
  accountType: AccountType;
  start(): OAuthStart;
  /** The confirmed address of the user who came back with this code; null when they have none. Rejects when the provider does not say. */
  addressOf(code: string, verifier: string): Promise<string | null>;
}

/** The providers that are set up. */
export type OAuthProviders = Readonly<Partial<Record<OAuthName, OAuthProvider>>>;

/** The settings of sign-in by providers. */
export interface OAuthSettings {
  API_URI: string;
  GITHUB_OAUTH_CLIENT: string | null;
  GITHUB_OAUTH_SECRET: string | null;
  GOOGLE_OAUTH_CLIENT: string | null;
  GOOGLE_OAUTH_SECRET: string | null;
}

const publicEndpoints: Record<OAuthName, OAuthEndpoints> = {
  github: {
    authorize: 'https://github.com/login/oauth/authorize',
    token: 'https://github.com/login/oauth/access_token',
    identity: 'https://api.github.com/user/emails',
  },
  google: {
    authorize: 'https://accounts.google.com/o/oauth2/v2/auth',
    token: 'https://oauth2.googleapis.com/token',
    identity: 'https://openidconnect.googleapis.com/v1/userinfo',
  },
};
const answersWithinMs = 10_000;

const GithubEmails = v.array(v.object({ email: v.string(), primary: v.boolean(), verified: v.boolean() }));
const GoogleIdentity = v.object({ email: v.string(), email_verified: v.boolean() });

/** The providers whose client id and secret are set. Tests give other endpoints. */
export function createOAuthProviders(
  settings: OAuthSettings,
  endpoints: Partial<Record<OAuthName, OAuthEndpoints>> = {},
): OAuthProviders {
  const provider = (
    name: OAuthName,
    client: string | null,
    secret: string | null,
    facts: { accountType: AccountType; scopes: string[]; read: (answer: unknown) => string | null },
  ) =>
    client === null || secret === null
      ? {}
      : {
          [name]: oauthProvider(
            new OAuth2Client(client, secret, `${settings.API_URI}/oauth/${name}/callback`),
            endpoints[name] ?? publicEndpoints[name],
            facts,
          ),
        };
  return {
    ...provider('github', settings.GITHUB_OAUTH_CLIENT, settings.GITHUB_OAUTH_SECRET, {
      accountType: 'GITHUB_OAUTH',
      scopes: ['user:email'],
      read: (answer) =>
        v.parse(GithubEmails, answer).find(({ primary, verified }) => primary && verified)?.email ?? null,
    }),
    ...provider('google', settings.GOOGLE_OAUTH_CLIENT, settings.GOOGLE_OAUTH_SECRET, {
      accountType: 'GOOGLE_OAUTH',
      scopes: ['openid', 'email'],
      read: (answer) => {
        const { email, email_verified: verified } = v.parse(GoogleIdentity, answer);
        return verified ? email : null;
      },
    }),
  };
}

function oauthProvider(
  client: OAuth2Client,
  endpoints: OAuthEndpoints,
  facts: { accountType: AccountType; scopes: string[]; read: (answer: unknown) => string | null },
): OAuthProvider {
  return {
    accountType: facts.accountType,
    start() {
      const [state, verifier] = [generateState(), generateCodeVerifier()];
      const url = client.createAuthorizationURLWithPKCE(
        endpoints.authorize,
        state,
        CodeChallengeMethod.S256,
        verifier,
        facts.scopes,
      );
      return { url: url.href, state, verifier };
    },
    async addressOf(code, verifier) {
      const signal = AbortSignal.timeout(answersWithinMs);
      const late = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('The provider does not answer')), { once: true });
      });
      // What loses the race must not end the process.
      late.catch(() => undefined);
      const tokens = await Promise.race([client.validateAuthorizationCode(endpoints.token, code, verifier), late]);
      const answer = await fetch(endpoints.identity, {
        signal,
        headers: {
          Accept: 'application/json',
          Authorization: `Bearer ${tokens.accessToken()}`,
          'User-Agent': 'posthorn',
        },
      });
      if (!answer.ok) throw new Error(`The provider answered ${answer.status} when it was asked who the user is`);
      const address = facts.read(await answer.json());
      return address === null ? null : normaliseEmail(address);
    },
  };
}
