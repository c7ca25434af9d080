// What other parts of the service may use of segments; everything else in this folder is its own.
export { type HorizonTimes, settledHorizon } from './changes.ts';
export { checkedDefinition, conditionObject, type Definition, storedDefinition } from './definition.ts';
export { enterMembers } from './members.ts';
export { type LockedSegment, lockSegment } from './queries.ts';
export { SegmentBody } from './schema.ts';
export { checkStatic, createSegment, segmentsByIds } from './service.ts';
export { type SegmentSweepDeps, type SweepPage, type SweepReport, settlePage, settleTouched } from './sweep.ts';
