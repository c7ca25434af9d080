import type { paths } from '../../api/schema.d.ts';

/** A project as its members see it. */
export type Project = paths['/users/@me/projects']['get']['responses'][200]['content']['application/json'][number];

/** Whether the viewer may change settings, keys and members (the roles table of the API guide). */
export function mayAdminister({ role }: Project): boolean {
  return role === 'ADMIN' || role === 'OWNER';
}
