// What other parts of the service may use of segments; everything else in this folder is its own.
export { settledHorizon } from './changes.ts';
export { checkedDefinition, storedDefinition } from './definition.ts';
export { segmentLookup } from './queries.ts';
export { SegmentBody } from './schema.ts';
export { segmentsByIds } from './service.ts';
export { type SegmentSweepDeps, type SweepPage, type SweepReport, settlePage, settleTouched } from './sweep.ts';
