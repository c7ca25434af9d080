import { maxFilters, maxLevels, valueOperators } from '@fernpost/conditions';
import { nameSchemas } from '@fernpost/openapi/names';
import * as v from 'valibot';

// How the API reference describes a condition tree. `parseCondition` checks trees, with faults that name their place.

const field = v.pipe(
  v.string(),
  v.description(
    '`email`, `subscribed`, `createdAt`, `updatedAt`, `data.<key>`, `event.<name>`, `email.<activity>` or `segment.<id>`.',
  ),
);

const ComparisonFilter = v.object({
  field,
  operator: v.picklist(valueOperators),
  value: v.unknown(),
});
const WindowFilter = v.object({
  field,
  operator: v.picklist(['within', 'olderThan', 'triggeredWithin', 'triggeredOlderThan', 'notTriggeredWithin']),
  value: v.union([v.number(), v.string()]),
  unit: v.picklist(['days', 'hours', 'minutes']),
});
const StateFilter = v.object({
  field,
  operator: v.picklist(['exists', 'notExists', 'triggered', 'notTriggered', 'memberOfSegment', 'notMemberOfSegment']),
});
const ConditionFilter = v.variant('operator', [ComparisonFilter, WindowFilter, StateFilter]);

interface Tree {
  logic: 'AND' | 'OR';
  groups: { filters: v.InferOutput<typeof ConditionFilter>[]; conditions?: Tree | null | undefined }[];
}

const ConditionGroup: v.GenericSchema<Tree['groups'][number]> = v.object({
  filters: v.array(ConditionFilter),
  conditions: v.nullish(v.lazy(() => ConditionShape)),
});

/** A condition tree as callers write it: groups of filters joined by AND or OR; all filters of a group must hold. */
export const ConditionShape: v.GenericSchema<Tree> = v.pipe(
  v.object({
    logic: v.picklist(['AND', 'OR']),
    groups: v.pipe(v.array(ConditionGroup), v.minLength(1)),
  }),
  v.description(`Groups of filters, at most ${maxLevels} levels and ${maxFilters} filters.`),
);

nameSchemas({
  Condition: ConditionShape,
  ConditionGroup,
  ConditionFilter,
  ConditionComparison: ComparisonFilter,
  ConditionWindow: WindowFilter,
  ConditionState: StateFilter,
});
