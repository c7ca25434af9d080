import * as v from 'valibot';
import {
  type Condition,
  maxFilters,
  maxLevels,
  type ConditionFilter as ParsedFilter,
  type ValueFilter,
} from '../lib/conditions/condition.ts';
import { ConditionFault, conditionFault, refuseUnstorable } from '../lib/conditions/dates.ts';
import { maxTimes, maxWhere, parseWhere, valueOperators, whereOperators } from '../lib/conditions/filters.ts';
import { type CompileOptions, compileCondition, compileFound } from '../lib/conditions/sql.ts';
import { Parameters } from '../lib/conditions/sql-data.ts';
import { happenedRows } from '../lib/conditions/sql-happened.ts';
import { badRequest } from '../lib/errors.ts';
import { describedBy, field, nameSchemas, Uuid } from '../lib/validation/fields.ts';
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

const EventTest = v.object({
  path: field("Key of the event's data, or a path such as `order.total`.", v.string()),
  operator: field('How the value is compared, as for `data.<key>`.', v.picklist(whereOperators)),
  value: field('The value to compare with; not used by `exists` and `notExists`.', v.optional(v.unknown())),
});
const eventTests = () => v.pipe(v.array(EventTest), v.minLength(1), v.maxLength(maxWhere));
const EventTests = eventTests();
const CheckedTests = v.pipe(
  v.custom<v.InferOutput<typeof EventTests>>(() => true),
  v.rawCheck(({ dataset, addIssue }) => {
    let place = '';
    try {
      refuseUnstorable(dataset.value);
      parseWhere(dataset.value, (key, message) => {
        place = key;
        return conditionFault([], message);
      });
    } catch (error) {
      if (!(error instanceof ConditionFault)) throw error;
      const keys = place.split('.').slice(1);
      const path = keys.map((key) => ({ type: 'unknown', origin: 'value', input: null, key, value: null }) as const);
      addIssue({ message: error.message, ...(isPath(path) ? { path } : {}) });
    }
  }),
);
// Named and by itself: the description of the API takes pipes apart.
const WrittenTests = eventTests();
/** Tests of the data of one event, beside its name. A fault names its place. */
export const EventWhere: v.GenericSchema<v.InferOutput<typeof EventTests>> = describedBy(
  v.lazy(() => CheckedTests),
  WrittenTests,
);

function isPath<Item>(items: Item[]): items is [Item, ...Item[]] {
  return items.length > 0;
}

const times = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(maxTimes));
const Times = v.object({
  atLeast: field('Fewest times; 1 when absent.', v.nullish(times)),
  atMost: field('Most times; null or absent for any number.', v.nullish(times)),
});
const MailSource = v.object({
  stepId: field('ID of the workflow step that sent the email.', v.nullish(Uuid)),
  campaignId: field('ID of the campaign that the email belongs to.', v.nullish(Uuid)),
  templateId: field('ID of the template that the email was made of.', v.nullish(Uuid)),
});
const narrowing = {
  where: field(
    'Tests of the data of the event, for `event.<name>`; all must pass. An event without the value passes `notExists` only.',
    v.nullish(EventTests),
  ),
  times: field(
    'How often the event must have happened, for `event.<name>` with `triggered` or `triggeredWithin`; at least once when absent.',
    v.nullish(Times),
  ),
  of: field(
    'The source of the email, for `email.<activity>`: one of the three; any email when absent.',
    v.nullish(MailSource),
  ),
  link: field(
    'The link that was clicked, as it stands in the email, for `email.clicked`; any link when absent.',
    v.nullish(v.string()),
  ),
};

const WindowFilter = v.object({
  field: FieldName,
  operator: field(
    'Whether the time lies within the last `value` units, before that, or within the next `value` units; `anniversaryWithin`: whether an earlier day comes round within that time, today included, in UTC.',
    v.picklist([
      'within',
      'olderThan',
      'withinNext',
      'anniversaryWithin',
      'triggeredWithin',
      'triggeredOlderThan',
      'notTriggeredWithin',
    ]),
  ),
  value: field('Number of units; a whole number, or its digits as text.', v.union([v.number(), v.string()])),
  unit: field('Unit of `value`.', v.picklist(['days', 'hours', 'minutes'])),
  ...narrowing,
});
const StateFilter = v.object({
  field: FieldName,
  operator: field(
    'The state that the field must be in.',
    v.picklist(['exists', 'notExists', 'triggered', 'notTriggered', 'memberOfSegment', 'notMemberOfSegment']),
  ),
  ...narrowing,
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
  ConditionEventTest: EventTest,
  EventTests: WrittenTests,
  ConditionTimes: Times,
  ConditionMailSource: MailSource,
});

/** A condition as part of a query: see `compileCondition` of the package. @throws a 400 for one that is too large */
export function conditionQuery(condition: Condition, options: CompileOptions): Query {
  const { text, values } = refusing(() => compileCondition(condition, options));
  return compiled(text, values);
}

/** Whether the event `t` is one of this name whose data passes tests, as part of a query. Tests that cannot be read pass nothing. */
export function eventQuery(projectId: string, name: string, where: unknown, now: Date): Query {
  let tests: ValueFilter[];
  try {
    tests = parseWhere(where, (key, message) => conditionFault([key], message));
  } catch (error) {
    if (error instanceof ConditionFault) return compiled('false', []);
    throw error;
  }
  const params = new Parameters();
  const filter = { kind: 'event', name, where: tests, test: { operator: 'triggered' } } as const;
  return compiled(happenedRows(filter, projectId, now, params).where, params.values);
}

/** What a filter found of the contact `c`, as part of a query: see `compileFound`. */
export function foundQuery(filter: ParsedFilter, options: CompileOptions): Query {
  const { text, values } = compileFound(filter, options);
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
