// What other parts of the service may use of engine; everything else in this folder is its own.
export { inFlightMs, mostAgeMs, persistently, probeSize } from './attempts.ts';
export { type Hold, holdFor, holdSentence, longestHeldMs, mayCall } from './breaker.ts';
export {
  type ComposeNotes,
  type Composer,
  type ComposerSettings,
  composeQueued,
  composerOf,
  createComposer,
} from './compose.ts';
export type { DeliveryDeps, EngineDeps, TakenClaim } from './deps.ts';
export { reconcileClaims } from './doubts.ts';
export { handOver } from './hand-over.ts';
export { holdBody, SendingHold } from './hold-schema.ts';
export { InFlight } from './in-flight.ts';
export type { KeptTexts, Ledger, Outcome, Tried } from './ledger-port.ts';
export { keptBody } from './literal.ts';
export { judgeUnconfirmed, lookUpClaim } from './look-up.ts';
export { type DeliveryReport, deliverPending, longestWaitMs, type Pace } from './pending.ts';
export { findSuppressed, writeSuppressed } from './suppression.ts';
export { bucketCtes, bucketMade } from './throttle.ts';
