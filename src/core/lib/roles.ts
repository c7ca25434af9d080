/** What a user may be in a project, least first (docs/contract/platform.md#1-2). */
export const roles = ['MEMBER', 'ADMIN', 'OWNER'] as const;
export type Role = (typeof roles)[number];

/** Whether a role includes the rights of another. */
export function roleIncludes(role: Role, least: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(least);
}
