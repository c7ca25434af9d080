import type { OAuth2Client } from 'arctic';
import * as v from 'valibot';
import type { Config } from '../lib/config/config.ts';
import { normalizeEmail } from '../lib/validation/email-address.ts';
import type { Database } from '../store/sql.ts';
import { User } from './entity.ts';
import { type AccountType, insertUser } from './queries.ts';

declare module '../http/context.ts' {
  interface App {
    /** Providers of sign-in that are set up. */
    oauth: OAuthProviders;
  }
}

export const oauthNames = ['github', 'google'] as const;
export type OAuthName = (typeof oauthNames)[number];

/** Where a provider is reached. `identity` answers who the user is. */
export interface OAuthEndpoints {
  authorize: string;
  token: string;
  identity: string;
}

/** State that a browser takes to the provider and brings back. */
interface OAuthStart {
  url: string;
  state: string;
  /** Proves at the end that the sign-in is the one that was begun (PKCE). */
  verifier: string;
}

export interface OAuthProvider {
  accountType: AccountType;
  start(): OAuthStart;
  /** The confirmed address of the user who came back with this code; null when they have none. Rejects when the provider does not say. */
  addressOf(code: string, verifier: string): Promise<string | null>;
}

type OAuthProviders = Readonly<Partial<Record<OAuthName, OAuthProvider>>>;

type OAuthSettings = Pick<
  Config,
  'API_URI' | 'GITHUB_OAUTH_CLIENT' | 'GITHUB_OAUTH_SECRET' | 'GOOGLE_OAUTH_CLIENT' | 'GOOGLE_OAUTH_SECRET'
>;

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

/** The differences between the providers. */
interface OAuthFacts {
  accountType: AccountType;
  scopes: string[];
  /** The confirmed address in what the provider says of a user; null for none. */
  read(answer: unknown): string | null;
}

const factsOf: Record<OAuthName, OAuthFacts> = {
  github: {
    accountType: 'GITHUB_OAUTH',
    scopes: ['user:email'],
    read: (answer) => v.parse(GithubEmails, answer).find(({ primary, verified }) => primary && verified)?.email ?? null,
  },
  google: {
    accountType: 'GOOGLE_OAUTH',
    scopes: ['openid', 'email'],
    read: (answer) => {
      const { email, email_verified: verified } = v.parse(GoogleIdentity, answer);
      return verified ? email : null;
    },
  },
};

/** The providers whose client id and secret are set. Tests give other endpoints. */
export async function createOAuthProviders(
  settings: OAuthSettings,
  endpoints: Partial<Record<OAuthName, OAuthEndpoints>> = {},
): Promise<OAuthProviders> {
  const provider = async (name: OAuthName, client: string | null, secret: string | null) => {
    if (client === null || secret === null) return {};
    // Loaded only where it is used: it has a module for each provider there is.
    const arctic = await import('arctic');
    const oauth = new arctic.OAuth2Client(client, secret, `${settings.API_URI}/oauth/${name}/callback`);
    return { [name]: oauthProvider(arctic, oauth, endpoints[name] ?? publicEndpoints[name], factsOf[name]) };
  };
  return {
    ...(await provider('github', settings.GITHUB_OAUTH_CLIENT, settings.GITHUB_OAUTH_SECRET)),
    ...(await provider('google', settings.GOOGLE_OAUTH_CLIENT, settings.GOOGLE_OAUTH_SECRET)),
  };
}

function oauthProvider(
  { CodeChallengeMethod, generateCodeVerifier, generateState }: typeof import('arctic'),
  client: OAuth2Client,
  { authorize, token, identity }: OAuthEndpoints,
  { accountType, scopes, read }: OAuthFacts,
): OAuthProvider {
  return {
    accountType,
    start() {
      const [state, verifier] = [generateState(), generateCodeVerifier()];
      const { S256 } = CodeChallengeMethod;
      const { href: url } = client.createAuthorizationURLWithPKCE(authorize, state, S256, verifier, scopes);
      return { url, state, verifier };
    },
    async addressOf(code, verifier) {
      const signal = AbortSignal.timeout(answersWithinMs);
      const late = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('The provider does not answer')), { once: true });
      });
      // The loser of the race must not end the process.
      late.catch(() => undefined);
      const tokens = await Promise.race([client.validateAuthorizationCode(token, code, verifier), late]);
      const answer = await fetch(identity, {
        signal,
        headers: {
          Accept: 'application/json',
          Authorization: `Bearer ${tokens.accessToken()}`,
          'User-Agent': 'fernpost',
        },
      });
      if (!answer.ok) throw new Error(`The provider answered ${answer.status} when it was asked who the user is`);
      const address = read(await answer.json());
      return address === null ? null : normalizeEmail(address);
    },
  };
}

/** Why somebody whom a provider vouches for is not let in, in a sentence for them. */
export class OAuthRefusal extends Error {}

/**
 * The account of an address that a provider vouches for, made when there is none. An address keeps the way of signing in
 * that its account began with: otherwise whoever controls one provider could enter accounts of another.
 * @throws OAuthRefusal
 */
export async function oauthUser(
  db: Database,
  email: string,
  type: AccountType,
  { DISABLE_SIGNUPS, mailLeaves }: Pick<Config, 'DISABLE_SIGNUPS' | 'mailLeaves'>,
): Promise<Pick<User, 'id' | 'email' | 'sessionVersion'>> {
  const known = () => db.em.findOne(User, { email });
  let user: Pick<User, 'id' | 'email' | 'sessionVersion' | 'type'> | null = await known();
  if (user === null) {
    if (DISABLE_SIGNUPS) throw new OAuthRefusal('Sign-ups are disabled on this service');
    // Another request may have added the same address first.
    const added = { email, passwordHash: null, type, emailVerified: true, selfRegistered: mailLeaves };
    user = (await insertUser(db, added)) ?? (await known());
  }
  if (user?.type !== type) throw new OAuthRefusal('This address has an account with another way to sign in');
  return user;
}
