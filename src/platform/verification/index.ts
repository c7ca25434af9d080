// What other parts of the service may use of verification; everything else in this folder is its own.
export type { Verification } from './schema.ts';
export { verifyByShippedLists } from './service.ts';
