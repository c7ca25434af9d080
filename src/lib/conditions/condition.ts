import { conditionFault, refuseUnstorable } from './dates.ts';
import { type Comparison, isObject, parseFilter, type TextSearch } from './filters.ts';

/**
 * A condition tree (docs/contract/core.md#4-3) after parsing: every value is checked and in the form its field needs, so
 * that nothing has to read the caller's strings again.
 */
export interface Condition {
  /** How the groups are joined. */
  logic: 'AND' | 'OR';
  groups: Group[];
}

/** All filters and the nested condition of a group must hold. */
export interface Group {
  filters: ConditionFilter[];
  nested: Condition | null;
}

/** One filter; `kind` is the kind of its field. */
export type ConditionFilter =
  | EmailFilter
  | SubscribedFilter
  | DateFilter
  | DataFilter
  | TriggerFilter
  | EventFilter
  | ActivityFilter
  | SegmentFilter;

/** On the contact's address; the text is lower-cased (trimmed too for equality) as stored addresses are. */
export interface EmailFilter {
  kind: 'email';
  operator: 'equals' | 'notEquals' | 'contains' | 'notContains';
  text: string;
}

/** On the contact's subscription; `notEquals true` has become `expected: false`. */
interface SubscribedFilter {
  kind: 'subscribed';
  expected: boolean;
}

/** On one of the contact's own instants. */
export interface DateFilter {
  kind: 'date';
  column: 'createdAt' | 'updatedAt';
  test: SpanTest | { operator: Comparison; instant: number } | WindowTest;
}

/** On the contact's data. */
export interface DataFilter extends ValueFilter {
  kind: 'data';
}

/** On the data of the event that started a workflow, in the conditions of its steps alone. */
export interface TriggerFilter extends ValueFilter {
  kind: 'trigger';
}

/** On a value of a JSON object: the top-level key named `key` if there is one, else the nested `path`. */
export interface ValueFilter {
  key: string;
  path: string[];
  test: DataTest;
}

/** A value of a contact's data, and what it is compared with. */
export type DataValue = string | number | boolean | null | DataValue[] | { [key: string]: DataValue };

/** The test that a data filter makes of a stored value. Equality with null has become `exists` or `notExists`. */
export type DataTest =
  | { operator: 'exists' | 'notExists' }
  | { operator: 'equals' | 'notEquals'; value: DataValue }
  | SpanTest
  | { operator: TextSearch; text: string }
  | { operator: Comparison; value: DataValue; instant: number | null }
  | WindowTest;

/** Whether an instant lies in the half-open span of epoch milliseconds; a UTC day in most cases. */
export interface SpanTest {
  operator: 'in' | 'notIn';
  from: number;
  until: number;
}

/**
 * Whether an instant is at or after (`within`), or before (`olderThan`), now minus `milliseconds`; from now until now plus `milliseconds`
 * (`withinNext`); or on an earlier day that has its anniversary from today until the day of now plus `milliseconds` (`anniversaryWithin`).
 * Days are those of UTC.
 */
export interface WindowTest {
  operator: 'within' | 'olderThan' | 'withinNext' | 'anniversaryWithin';
  milliseconds: number;
}

/** On the contact's events of exactly this name whose data passes all of `where`. */
export interface EventFilter {
  kind: 'event';
  name: string;
  test: HappenedTest;
  where?: ValueFilter[];
  times?: Times;
}

/** How often something must have happened; without `atMost` as often as it likes. */
export interface Times {
  atLeast: number;
  atMost: number | null;
}

/** On the timestamps of the contact's emails: all of them, or those `of` one source. With `link`, on clicks of exactly that link. */
export interface ActivityFilter {
  kind: 'activity';
  activity: Activity;
  test: HappenedTest;
  of?: MailSource;
  link?: string;
}

/** What the mail of an activity comes from. `path` is the place of the filter's `of`, for messages. */
export interface MailSource {
  kind: 'stepId' | 'campaignId' | 'templateId';
  id: string;
  path: string;
}

/** The test of events that happen at instants. */
export type HappenedTest =
  | { operator: 'triggered' | 'notTriggered' }
  | { operator: 'triggeredWithin' | 'triggeredOlderThan' | 'notTriggeredWithin'; milliseconds: number };

/** On membership of another segment of the project. `path` is the place of the filter's field, for messages. */
export interface SegmentFilter {
  kind: 'segment';
  segmentId: string;
  member: boolean;
  path: string;
}

/** Events in the life of an email; each has a timestamp of its own on the email's row. */
export type Activity = 'sent' | 'delivered' | 'opened' | 'clicked' | 'bounced' | 'complained';

/** Most levels of nesting and most filters of one tree (docs/contract/core.md#4-3). */
export const maxLevels = 10;
export const maxFilters = 200;

/**
 * Checks a condition tree and brings it into the form that `compileCondition` takes.
 * Whether the segments it names exist is the business of `checkSegmentReferences`. With `ofStep` it is the condition of a workflow's
 * step, which can ask for `trigger.<key>`.
 * @throws ConditionFault whose `path` names the place, such as `groups.0.filters.1.operator`
 */
export function parseCondition(input: unknown, ofStep = false): Condition {
  refuseUnstorable(input);
  let filters = 0;
  return condition(input, [], 1);

  function condition(node: unknown, path: string[], level: number): Condition {
    if (!isObject(node)) throw conditionFault(path, 'A condition must be an object with "logic" and "groups"');
    if (level > maxLevels) throw conditionFault(path, `A condition may have at most ${maxLevels} levels`);
    const logic = node.logic;
    if (logic !== 'AND' && logic !== 'OR') throw conditionFault([...path, 'logic'], '"logic" must be "AND" or "OR"');
    if (!Array.isArray(node.groups) || node.groups.length === 0) {
      throw conditionFault([...path, 'groups'], '"groups" must be an array with at least one group');
    }
    return { logic, groups: node.groups.map((each, index) => group(each, [...path, 'groups', `${index}`], level)) };
  }

  function group(node: unknown, path: string[], level: number): Group {
    if (!isObject(node)) throw conditionFault(path, 'A group must be an object with "filters"');
    if (!Array.isArray(node.filters)) throw conditionFault([...path, 'filters'], '"filters" must be an array');
    // Clients that build trees step by step send null for a nested condition they have not filled in.
    const nested = node.conditions ?? null;
    if (node.filters.length === 0 && nested === null) {
      throw conditionFault(path, 'A group needs at least one filter or nested "conditions"');
    }
    return {
      filters: node.filters.map((each, index) => filter(each, [...path, 'filters', `${index}`])),
      nested: nested === null ? null : condition(nested, [...path, 'conditions'], level + 1),
    };
  }

  function filter(node: unknown, path: string[]): ConditionFilter {
    filters += 1;
    if (filters > maxFilters) throw conditionFault(path, `A condition may have at most ${maxFilters} filters`);
    if (!isObject(node)) throw conditionFault(path, 'A filter must be an object with "field" and "operator"');
    return parseFilter(node, (key, message) => conditionFault([...path, key], message), path.join('.'), ofStep);
  }
}

/** Every filter of the tree, at any depth. */
export function filtersOf(condition: Condition): ConditionFilter[] {
  return condition.groups.flatMap(({ filters, nested }) => [...filters, ...(nested ? filtersOf(nested) : [])]);
}
