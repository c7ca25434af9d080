/** The subjects of a filter; the name that some of them need follows in the field's second part. */
export type FieldKind =
  | 'email'
  | 'subscribed'
  | 'createdAt'
  | 'updatedAt'
  | 'data'
  | 'event'
  | 'activity'
  | 'segment'
  | 'trigger';

/** The kind of a filter's value, which decides how it is entered and its JSON type. */
export type ValueType = 'text' | 'number' | 'boolean' | 'day' | 'moment' | 'null' | 'json';

/** Units of a window of time. */
export const units = ['minutes', 'hours', 'days'] as const;

/** How a filter on each kind of field begins, after “Contacts”, in the order in which they are offered; `trigger` in steps of workflows alone. */
export const kindNames: Record<FieldKind, string> = {
  email: 'whose email address',
  subscribed: 'whose subscription',
  data: 'whose field',
  trigger: 'whose triggering event has',
  event: 'who triggered',
  activity: 'for whom an email',
  segment: 'whose segments',
  createdAt: 'whose creation date',
  updatedAt: 'whose last update',
};

/** The activities of mail, by the name that stands in a field. */
export const activityNames: Record<string, string> = {
  sent: 'was sent',
  delivered: 'was delivered',
  opened: 'was opened',
  clicked: 'was clicked',
  bounced: 'bounced',
  complained: 'was reported as spam',
};

const otherSpellings: Record<string, string> = {
  delivery: 'delivered',
  open: 'opened',
  click: 'clicked',
  bounce: 'bounced',
  complaint: 'complained',
};

/** The usual spelling of an activity: `open` and `opened` are the same. */
export function usualActivity(name: string): string {
  return otherSpellings[name] ?? name;
}

const text = ['equals', 'notEquals', 'contains', 'notContains'];
const comparisons = ['greaterThan', 'greaterThanOrEqual', 'lessThan', 'lessThanOrEqual'];
const windows = ['within', 'olderThan', 'withinNext', 'anniversaryWithin'];
const ofValues = [...text, ...comparisons, ...windows, 'exists', 'notExists'];
const happened = ['triggered', 'triggeredWithin', 'triggeredOlderThan', 'notTriggered', 'notTriggeredWithin'];

/** The operators on a value of an event's data. */
export const testOperators: readonly string[] = [...text, ...comparisons, 'exists', 'notExists'];

/** The operators that a kind of field has. */
export const operatorsOf: Record<FieldKind, readonly string[]> = {
  email: text,
  subscribed: ['equals', 'notEquals'],
  createdAt: ['equals', 'notEquals', ...comparisons, ...windows],
  updatedAt: ['equals', 'notEquals', ...comparisons, ...windows],
  data: ofValues,
  trigger: ofValues,
  event: happened,
  activity: happened,
  segment: ['memberOfSegment', 'notMemberOfSegment'],
};

const names: Record<string, string> = {
  equals: 'is',
  notEquals: 'is not',
  contains: 'contains',
  notContains: 'does not contain',
  greaterThan: 'is more than',
  greaterThanOrEqual: 'is at least',
  lessThan: 'is less than',
  lessThanOrEqual: 'is at most',
  within: 'is within the last',
  olderThan: 'is longer ago than',
  withinNext: 'is within the next',
  anniversaryWithin: 'has its anniversary within',
  exists: 'has a value',
  notExists: 'has no value',
  triggered: 'at least once',
  triggeredWithin: 'within the last',
  triggeredOlderThan: 'before, but not within the last',
  notTriggered: 'never',
  notTriggeredWithin: 'not within the last',
  memberOfSegment: 'include',
  notMemberOfSegment: 'do not include',
};

const namesForDates: Record<string, string> = {
  equals: 'is on the day',
  notEquals: 'is not on the day',
  greaterThan: 'is after',
  greaterThanOrEqual: 'is at or after',
  lessThan: 'is before',
  lessThanOrEqual: 'is at or before',
};

/** How an operator is called where the value has that type. */
export function operatorName(operator: string, type: ValueType): string {
  const isDate = type === 'day' || type === 'moment';
  return (isDate ? namesForDates[operator] : undefined) ?? names[operator] ?? operator;
}

/** The inputs that an operator needs besides the field. */
export function needsOf(operator: string): 'nothing' | 'value' | 'window' {
  if (
    /^(within|olderThan|withinNext|anniversaryWithin|triggeredWithin|triggeredOlderThan|notTriggeredWithin)$/.test(
      operator,
    )
  )
    return 'window';
  return /^(exists|notExists|triggered|notTriggered|memberOfSegment|notMemberOfSegment)$/.test(operator)
    ? 'nothing'
    : 'value';
}

/** The types that a value may have for an operator on a kind of field, the usual one first. */
export function typesFor(kind: FieldKind, operator: string): readonly ValueType[] {
  if (needsOf(operator) === 'window') return ['number'];
  switch (kind) {
    case 'subscribed':
      return ['boolean'];
    case 'createdAt':
    case 'updatedAt':
      // In equality a time means its whole day.
      return operator === 'equals' || operator === 'notEquals' ? ['day'] : ['day', 'moment'];
    case 'data':
    case 'trigger':
      if (operator === 'equals' || operator === 'notEquals')
        return ['text', 'number', 'boolean', 'day', 'null', 'json'];
      return comparisons.includes(operator) ? ['number', 'day', 'moment', 'text'] : ['text'];
    default:
      return ['text'];
  }
}

/** The limits of the API for one tree (docs/contract/core.md#4-3). */
export const maxLevels = 10;
export const maxFilters = 200;
/** The limits of the API for one filter on events. */
export const maxTests = 5;
export const maxTimes = 10_000;
