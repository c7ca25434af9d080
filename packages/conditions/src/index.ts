export {
  type Activity,
  type Condition,
  type ConditionFilter,
  maxFilters,
  maxLevels,
  parseCondition,
} from './condition.ts';
export { isBeyondOffsets, parseIsoDate } from './dates.ts';
export { dependsOn, mentionsEvent, mentionsField } from './dependencies.ts';
export { valueOperators } from './filters.ts';
export { ConditionFault } from './json.ts';
export {
  checkSegmentReferences,
  refuseOvergrowth,
  resolveSegments,
  type SegmentMap,
  type StoredSegment,
  segmentFacts,
} from './segments.ts';
export { type CompileOptions, compileCondition } from './sql.ts';
