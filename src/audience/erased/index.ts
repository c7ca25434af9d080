// What other parts of the service may use of erased addresses; everything else in this folder is its own.
export { type ErasedAddresses, erasedAmong, refuseErased } from './addresses.ts';
export { type ErasureKey, ensureErasureKey, findErasureKey } from './keys.ts';
export { isErasedMail, pseudonymOf } from './pseudonym.ts';
