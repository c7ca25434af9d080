/** What a member is called by their role. */
export const roleNames = { OWNER: 'Owner', ADMIN: 'Admin', MEMBER: 'Member' } as const;

/** A role that can be given. */
export type GivenRole = 'ADMIN' | 'MEMBER';
