import { AppError } from '../lib/errors.ts';
import type { ProjectDirectory, ProjectFacts } from '../projects/directory.ts';
import { invalidKey, missingAuth, projectDisabled, unauthorized } from './errors.ts';
import type { Access } from './route.ts';

/**
 * Finds the project a request acts for (contract page 1, 1.5) and refuses writes to a disabled one.
 * @throws 401 MISSING_AUTH, INVALID_API_KEY or UNAUTHORIZED; 403 PROJECT_DISABLED
 */
export async function authenticate(
  directory: ProjectDirectory,
  access: Exclude<Access, 'none'>,
  authorization: string,
  method: string,
): Promise<ProjectFacts> {
  if (authorization === '') {
    if (access === 'dashboard') throw unauthorized();
    throw missingAuth('The Authorization header is missing');
  }
  const parts = authorization.split(' ');
  const [scheme = '', key = ''] = parts;
  if (parts.length !== 2 || scheme.toLowerCase() !== 'bearer' || key === '')
    throw missingAuth('The Authorization header must be "Bearer <key>"');
  const owner = await directory.byKey(key);
  if (owner === null) throw invalidKey('This API key is not known');
  if (access === 'public' && owner.kind === 'secret')
    throw invalidKey('This endpoint takes the public key of the project; keep the secret key on your servers');
  if (access !== 'public' && owner.kind === 'public')
    throw invalidKey('This endpoint takes the secret key of the project, not the public one');
  if (owner.project.disabled && method !== 'GET') throw projectDisabled();
  return owner.project;
}

/** 400 for a session without the header that names the project. */
export function missingProjectHeader(): AppError {
  return new AppError(400, 'BAD_REQUEST', 'Name the project in the header "X-Project-Id"');
}
