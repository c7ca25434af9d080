import type { Admitted, App, RequestCredentials, ScopedKey } from '../../http/context.ts';
import {
  invalidKey,
  missingAuth,
  noSuchProject,
  projectDisabled,
  scopeMissing,
  unauthorized,
} from '../../http/errors.ts';
import type { Access, Route } from '../../http/route.ts';
import { AppError, conflict, forbidden } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import type { KeyOwner } from '../directory.ts';
import { admitMember, admitUser } from './session.ts';

/** The parts of the app that decide access. */
export interface AccessDeps extends Pick<App, 'config' | 'clock' | 'db' | 'directory'> {
  /** Origins whose pages may make requests with the cookie of a session. */
  origins: ReadonlySet<string>;
}

type Rules = Pick<Route, 'access' | 'role' | 'scope' | 'refusesKeys' | 'refusedWhenDisabled' | 'ungated'>;

/**
 * Finds who asks and for which project (docs/contract/core.md#1-5, docs/contract/platform.md#1-1 and
 * docs/contract/platform.md#1-2), and refuses what they may not do. An `Authorization` header decides alone; the session cookie
 * is read only without one.
 * @throws 400 without X-Project-Id; 401 MISSING_AUTH, INVALID_API_KEY, UNAUTHORIZED; 403 FORBIDDEN,
 * SCOPE_MISSING, PROJECT_ACCESS_DENIED, PROJECT_DISABLED, EMAIL_VERIFICATION_REQUIRED; 404 for a path that names no project of the
 * user; 409 while the project is being reset
 */
export async function authenticate(deps: AccessDeps, route: Rules, credentials: RequestCredentials): Promise<Admitted> {
  if (route.access === 'none') return { project: null, actor: null, apart: null };
  const authorization = credentials.header('authorization');
  const admitted =
    authorization !== '' || route.access === 'public' || route.access === 'secret'
      ? await admitKey(deps, route, credentials, authorization)
      : await admitSession(deps, route, credentials);
  if (admitted.project?.resetting && credentials.method !== 'GET')
    throw conflict('This project is being reset: try again when that has finished');
  return admitted;
}

async function admitKey(
  deps: AccessDeps,
  route: Rules,
  credentials: RequestCredentials,
  authorization: string,
): Promise<Admitted> {
  const owner = await ownerOf(deps, route.access, authorization);
  if (route.access === 'cookie' && !route.refusesKeys) throw unauthorized('Sign in: API keys belong to no user');
  const { project, scoped } = owner;
  if (route.access === 'project') {
    const named = credentials.params.id ?? '';
    if (!isUuid(named)) throw noSuchProject(named);
    if (named.toLowerCase() !== project.id)
      throw new AppError(403, 'PROJECT_ACCESS_DENIED', 'This key belongs to another project');
  }
  // A key that leaked must not destroy a project or plant a member.
  if (route.refusesKeys) throw forbidden('API keys cannot do this: sign in', { reason: 'key' });
  if (scoped !== null) checkScope(route, scoped);
  if (project.disabled && credentials.method !== 'GET') throw projectDisabled();
  if (scoped !== null) await deps.directory.noteUse(scoped, deps.clock());
  const isApart = owner.kind === 'public' && project.publicKeyMode === 'hardened';
  const apart = isApart ? { requestsPerMinute: project.publicKeyRequestsPerMinute } : null;
  return { project, actor: { kind: 'key', scoped }, apart };
}

function checkScope({ scope }: Rules, { scopes }: ScopedKey): void {
  if (scope === undefined)
    throw forbidden('Keys with scopes cannot do this: use the secret key of the project, or sign in', {
      reason: 'key',
    });
  if (scope !== 'any' && !scopes.includes(scope)) throw scopeMissing(scope, scopes);
}

async function ownerOf({ directory, clock }: AccessDeps, access: Access, authorization: string): Promise<KeyOwner> {
  if (authorization === '') throw missingAuth('The Authorization header is missing');
  const parts = authorization.split(' ');
  const [scheme = '', key = ''] = parts;
  if (parts.length !== 2 || scheme.toLowerCase() !== 'bearer' || key === '')
    throw missingAuth('The Authorization header must be "Bearer <key>"');
  const owner = await directory.byKey(key);
  if (owner === null) throw invalidKey('This API key is not known');
  const until = owner.scoped?.until ?? null;
  if (until !== null && until <= clock()) throw invalidKey('This API key has expired');
  if (access === 'public' && owner.kind === 'secret')
    throw invalidKey('This endpoint takes the public key of the project; keep the secret key on your servers');
  if (access !== 'public' && owner.kind === 'public')
    throw invalidKey('This endpoint takes the secret key of the project, not the public one');
  return owner;
}

async function admitSession(deps: AccessDeps, route: Rules, credentials: RequestCredentials): Promise<Admitted> {
  if (route.access === 'cookie' || route.access === 'account')
    return { project: null, actor: await admitUser(deps, route, credentials), apart: null };
  const { actor, projectId } = await admitMember(deps, route, credentials);
  const project = await deps.directory.byId(projectId);
  if (project === null) throw new AppError(404, 'RESOURCE_NOT_FOUND', 'This project no longer exists');
  const guarded = route.access === 'dashboard' || route.refusedWhenDisabled === true;
  if (project.disabled && guarded && credentials.method !== 'GET') throw projectDisabled();
  return { project, actor, apart: null };
}
