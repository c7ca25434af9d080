/** Labels of the roles of members. */
export const roleNames = { OWNER: 'Owner', ADMIN: 'Admin', MEMBER: 'Member' } as const;

/** A role that can be given. */
export type GivenRole = 'ADMIN' | 'MEMBER';
