import {
  readSession,
  type SessionState,
  type SessionUser,
  sessionHash,
  sessionState,
  sessionTokens,
} from '../../accounts/sessions.ts';
import type { MemberActor, RequestCredentials, UserActor } from '../../http/context.ts';
import { noSuchProject, unauthorized } from '../../http/errors.ts';
import type { Route } from '../../http/route.ts';
import { type Role, roleIncludes } from '../../lib/enums.ts';
import { AppError, forbidden } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import type { AccessDeps } from './authenticate.ts';

type Rules = Pick<Route, 'access' | 'role' | 'ungated'>;

/** The user of the session. @throws 401, 403 for a foreign page or an address that is not confirmed */
export async function admitUser(deps: AccessDeps, route: Rules, credentials: RequestCredentials): Promise<UserActor> {
  const session = await signedIn(deps, credentials);
  const user = current(deps, route, session, await sessionState(deps.db, session, null));
  return { kind: 'user', userId: session.id, email: user?.email ?? '', role: null };
}

/**
 * The user of the session as a member of the project in the path (`project`) or in `X-Project-Id` (`dashboard`).
 * @throws 400 without the header; 401; 403 for a stranger, a role too low, a foreign page, an address that is not
 * confirmed; 404 where the path names a project that is not theirs
 */
export async function admitMember(
  deps: AccessDeps,
  route: Rules,
  credentials: RequestCredentials,
): Promise<{ actor: MemberActor; projectId: string }> {
  const session = await signedIn(deps, credentials);
  const inPath = route.access === 'project';
  const named = inPath ? (credentials.params.id ?? '') : credentials.header('x-project-id');
  const projectId = (
    named === '' && !inPath ? ((await credentials.findProject(session.id)) ?? '') : named
  ).toLowerCase();
  const known = isUuid(projectId) ? projectId : null;
  const user = current(deps, route, session, await sessionState(deps.db, session, known));
  if (user === null) throw unauthorized();
  if (user.role === null) {
    if (inPath) throw noSuchProject(named);
    if (projectId === '') throw new AppError(400, 'BAD_REQUEST', 'Name the project in the header "X-Project-Id"');
    throw new AppError(403, 'PROJECT_ACCESS_DENIED', 'You are not a member of the project in "X-Project-Id"');
  }
  const least: Role = route.role ?? 'MEMBER';
  if (!roleIncludes(user.role, least))
    throw forbidden(`This needs the role ${least}; you are ${user.role} of this project`, { reason: 'role' });
  return { actor: { kind: 'user', userId: user.id, email: user.email, role: user.role }, projectId };
}

async function signedIn(deps: AccessDeps, credentials: RequestCredentials) {
  const [token] = sessionTokens(credentials.header('cookie'));
  const session = token ? await readSession(token, deps.config.sessionSecrets, deps.clock()) : null;
  if (token === undefined || session === null || !isUuid(session.id)) throw unauthorized();
  refuseForeignPage(deps.origins, credentials);
  return { ...session, hash: sessionHash(token) };
}

// A browser names the page that makes a writing request; one that does not say so at least tells that it is another site.
function refuseForeignPage(origins: ReadonlySet<string>, credentials: RequestCredentials): void {
  if (credentials.method === 'GET') return;
  const origin = credentials.header('origin');
  const foreign = origin === '' ? credentials.header('sec-fetch-site') === 'cross-site' : !origins.has(origin);
  if (foreign)
    throw forbidden('Requests from other origins cannot use your session: add the origin to CORS_EXTRA_ORIGINS', {
      reason: 'origin',
    });
}

// Users are never deleted. A session that we signed for nobody answered a sign-up with an address that was taken (see
// src/accounts/login-service.ts): it must look like that of a new account, so it is answered the same, and null lets it as far.
function current(
  { config }: AccessDeps,
  route: Rules,
  session: { id: string; sv: number },
  { ended, user }: SessionState,
): SessionUser | null {
  if (ended || (user !== null && user.sessionVersion !== session.sv)) throw unauthorized();
  const unconfirmed = user === null || (user.type === 'PASSWORD' && !user.emailVerified);
  if (unconfirmed && config.REQUIRE_EMAIL_VERIFICATION) {
    if (route.ungated) return user;
    throw new AppError(
      403,
      'EMAIL_VERIFICATION_REQUIRED',
      'Confirm your address first: follow the link in the mail we sent, or ask for another with POST /auth/request-verification',
    );
  }
  if (user === null) throw unauthorized();
  return user;
}
