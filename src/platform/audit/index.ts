// What other parts of the service may use of the audit log; everything else in this folder is its own.
export { actorName, removeOldAudit } from './queries.ts';
export { recordChange } from './record.ts';
export { redactEntries } from './redact.ts';
export { Actor } from './schema.ts';
