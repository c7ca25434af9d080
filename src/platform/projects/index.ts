// What other parts of the service may use of projects; everything else in this folder is its own.
export { checkUnplanned } from './assistants.ts';
export type { KeyOwner, ProjectDirectory, ProjectFacts, VerifiedDomains } from './directory.ts';
export { Membership, ofProject, Project } from './entity.ts';
export { billingColumns, type ProjectBilling, type UsageCategory, usageCategories } from './limits-columns.ts';
export { AddMember } from './member-schema.ts';
