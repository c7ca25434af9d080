import * as v from 'valibot';
import { type Condition, maxFilters, maxLevels } from '../lib/conditions/condition.ts';
import { ConditionFault } from '../lib/conditions/dates.ts';
import { valueOperators } from '../lib/conditions/filters.ts';
import { type CompileOptions, compileCondition } from '../lib/conditions/sql.ts';
import { badRequest } from '../lib/errors.ts';
import { field, nameSchemas } from '../lib/validation/fields.ts';
import { compiled, type Query } from '../store/sql.ts';

// How the API reference describes a condition tree. `parseCondition` checks trees, with faults that name their place.

const FieldName = v.pipe(
  v.string(),
  v.description(
    '`email`, `subscribed`, `createdAt`, `updatedAt`, `data.<key>`, `event.<name>`, `email.<activity>` or `segment.<id>`.',
  ),
);

const ComparisonFilter = v.object({
  field: FieldName,
  operator: field('How the value of the field is compared.', v.picklist(valueOperators)),
  value: field('The value to compare with; its type follows from the field and the operator.', v.unknown()),
});
const WindowFilter = v.object({
  field: FieldName,
  operator: field(
    'Whether the time lies within the last `value` units, or before that.',
    v.picklist(['within', 'olderThan', 'triggeredWithin', 'triggeredOlderThan', 'notTriggeredWithin']),
  ),
  value: field('Number of units; a whole number, or its digits as text.', v.union([v.number(), v.string()])),
  unit: field('Unit of `value`.', v.picklist(['days', 'hours', 'minutes'])),
});
const StateFilter = v.object({
  field: FieldName,
  operator: field(
    'The state that the field must be in.',
    v.picklist(['exists', 'notExists', 'triggered', 'notTriggered', 'memberOfSegment', 'notMemberOfSegment']),
  ),
});
const ConditionFilter = v.variant('operator', [ComparisonFilter, WindowFilter, StateFilter]);

interface Tree {
  logic: 'AND' | 'OR';
  groups: { filters: v.InferOutput<typeof ConditionFilter>[]; conditions?: Tree | null | undefined }[];
}

const ConditionGroup: v.GenericSchema<Tree['groups'][number]> = v.object({
  filters: field('Filters that must all match.', v.array(ConditionFilter)),
  conditions: field(
    'A condition tree that must match as well; null or absent for none.',
    v.nullish(v.lazy(() => ConditionShape)),
  ),
});

/** A condition tree as callers write it: groups of filters joined by AND or OR; all filters of a group must hold. */
export const ConditionShape: v.GenericSchema<Tree> = v.pipe(
  v.object({
    logic: field('`AND`: every group must match. `OR`: at least one group must match.', v.picklist(['AND', 'OR'])),
    groups: field('Groups of filters, combined by `logic`.', v.pipe(v.array(ConditionGroup), v.minLength(1))),
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

/** A condition as part of a query: see `compileCondition` of the package. @throws a 400 for one that is too large */
export function conditionQuery(condition: Condition, options: CompileOptions): Query {
  const { text, values } = refusing(() => compileCondition(condition, options));
  return compiled(text, values);
}

/** Does work with the package. @throws a 400 for what the package finds at fault, with the place in `details.path` */
export function refusing<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    return refused(error);
  }
}

/** Rethrows an error as `refusing` does, for work that is awaited. */
export function refused(error: unknown): never {
  throw error instanceof ConditionFault ? badRequest(error.message, { path: error.path }) : error;
}
