// What other parts of the service may use of conditions; everything else in this folder is its own.
export { parseIsoDate } from './dates.ts';
export { dependsOn, mentionsEvent, mentionsField } from './dependencies.ts';
export { type Activity, type Condition, type Filter, maxLevels, parseCondition } from './schema.ts';
export {
  checkSegmentReferences,
  refuseOvergrowth,
  resolveSegments,
  type SegmentMap,
  type StoredSegment,
} from './segments.ts';
export { ConditionShape } from './shape.ts';
export { compileCondition } from './sql.ts';
