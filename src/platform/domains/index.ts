// What other parts of the service may use of domains; everything else in this folder is its own.
export type { CheckDeps } from './checks.ts';
export { removeLater } from './removal-queries.ts';
export { checkKeySender, checkSenderDomain } from './service.ts';
export { checkDueDomains, type DomainPage, removeLeftovers, restartDomain } from './sweep.ts';
