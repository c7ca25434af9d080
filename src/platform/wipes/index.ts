// What other parts of the service may use of wipes; everything else in this folder is its own.
export { findWipe, removeOldWipes } from './queries.ts';
export { endWipe, recoverableWipes, type WipeReport, wipeRows } from './wipe.ts';
