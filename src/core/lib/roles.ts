/** What a user may be in a project, least first (contract page 3, 1.2). */
export const roles = ['MEMBER', 'ADMIN', 'OWNER'] as const;
export type Role = (typeof roles)[number];

/** Whether a role includes the rights of another. */
export function roleIncludes(role: Role, least: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(least);
}
