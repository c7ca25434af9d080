/** Roles of users in a project, least first (docs/contract/platform.md#1-2). */
export const roles = ['MEMBER', 'ADMIN', 'OWNER'] as const;
export type Role = (typeof roles)[number];

/** Whether a role includes the rights of another. */
export function roleIncludes(role: Role, least: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(least);
}

/** Permissions of keys (docs/contract/reach.md#3); a route names the one it needs. */
export const scopes = [
  'emails:send',
  'emails:read',
  'events:write',
  'contacts:read',
  'contacts:write',
  'contacts:erase',
  'templates',
  'campaigns:read',
  'campaigns:write',
  'campaigns:send',
  'workflows:read',
  'workflows:write',
  'webhooks',
  'explain',
  'audit',
] as const;
export type Scope = (typeof scopes)[number];

/** The name of the cookie that carries a session; the API reference names it too. */
export const sessionCookie = 'fernpost_session';
