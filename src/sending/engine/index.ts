// What other parts of the service may use of engine; everything else in this folder is its own.
export { callsOf, givenUp, retryDelay, submissionUnknown } from './attempts.ts';
export {
  type CallReport,
  type Hold,
  holdFor,
  holdSentence,
  longestHeldMs,
  mayCall,
  noteCall,
  reportOf,
  takeProbe,
} from './breaker.ts';
export { type Composer, type ComposerSettings, composeQueued, createComposer } from './compose.ts';
export type { DeliveryDeps } from './deps.ts';
export { reconcileClaims } from './doubts.ts';
export { type DeliveryReport, deliverPending, type Pace } from './pending.ts';
export { longestBatchMs, renderTurns } from './render-turns.ts';
export { findSuppressed } from './suppression.ts';
export { writeSuppressed } from './suppression-queries.ts';
export { bucketCtes, bucketMade } from './throttle.ts';
