import type {
  Activity,
  ConditionFilter,
  DataTest,
  DataValue,
  DateFilter,
  HappenedTest,
  SpanTest,
} from './condition.ts';
import { parseIsoDate, readDate, unitLengths, utcDay } from './dates.ts';

const comparisons = ['greaterThan', 'lessThan', 'greaterThanOrEqual', 'lessThanOrEqual'] as const;
/** The four ordering operators. */
export type Comparison = (typeof comparisons)[number];

/** The operators that look for one text within another. */
export type TextSearch = 'contains' | 'notContains';

const dateOperators = ['equals', 'notEquals', ...comparisons, 'within', 'olderThan'] as const;
const textOperators = ['equals', 'notEquals', 'contains', 'notContains'] as const;
/** The operators that compare a field with a value. */
export const valueOperators = [...textOperators, ...comparisons] as const;
const dataOperators = [...valueOperators, 'within', 'olderThan', 'exists', 'notExists'] as const;
const happenedOperators = [
  'triggered',
  'triggeredWithin',
  'triggeredOlderThan',
  'notTriggered',
  'notTriggeredWithin',
] as const;
const memberOperators = ['memberOfSegment', 'notMemberOfSegment'] as const;
const allOperators = [...dataOperators, ...happenedOperators, ...memberOperators] as const;
type Operator = (typeof allOperators)[number];

const activities = new Map<string, Activity>([
  ['sent', 'sent'],
  ['delivery', 'delivered'],
  ['delivered', 'delivered'],
  ['open', 'opened'],
  ['opened', 'opened'],
  ['click', 'clicked'],
  ['clicked', 'clicked'],
  ['bounce', 'bounced'],
  ['bounced', 'bounced'],
  ['complaint', 'complained'],
  ['complained', 'complained'],
]);

// Each step of a path is an operator of its own in SQL; no real contact data is nested this deep.
const maxPathSteps = 20;
const decimal = /^\+?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** Makes the error for a fault at one key of a filter. */
export type FilterFault = (key: 'field' | 'operator' | 'value' | 'unit', message: string) => Error;

/**
 * Reads one filter of a tree by the tables of docs/contract/core.md#4-3. `place` is the filter's path, kept for later messages.
 */
export function parseFilter(raw: Record<string, unknown>, fault: FilterFault, place: string): ConditionFilter {
  const { field } = raw;
  if (typeof field !== 'string' || field === '') throw fault('field', '"field" must be a non-empty string');
  if (typeof raw.operator !== 'string' || raw.operator === '')
    throw fault('operator', '"operator" must be a non-empty string');
  const operator = oneOf(raw.operator, allOperators);
  if (operator === null) throw fault('operator', `Unknown operator "${raw.operator}"`);
  const written = new WrittenFilter(field, operator, raw, fault);
  if (field === 'email') return emailFilter(written);
  if (field === 'subscribed') {
    const isEqual = written.allow(['equals', 'notEquals']) === 'equals';
    return { kind: 'subscribed', expected: written.boolean() === isEqual };
  }
  if (field === 'createdAt' || field === 'updatedAt') return { kind: 'date', column: field, test: dateTest(written) };
  const [, prefix, name = ''] = /^(data|event|email|segment)\.(.*)$/s.exec(field) ?? [];
  switch (prefix) {
    case 'data':
      return dataFilter(name, written);
    case 'event':
      if (name === '') throw fault('field', '"event." needs the name of an event');
      return { kind: 'event', name, test: happenedTest(written.allow(happenedOperators), written) };
    case 'email': {
      const activity = activities.get(name);
      if (!activity)
        throw fault('field', `Unknown email activity "${field}"; an event of that name is "event.${field}"`);
      return { kind: 'activity', activity, test: happenedTest(written.allow(happenedOperators), written) };
    }
    case 'segment': {
      const member = written.allow(memberOperators) === 'memberOfSegment';
      return { kind: 'segment', segmentId: name.toLowerCase(), member, path: `${place}.field` };
    }
  }
  const happened = oneOf(operator, happenedOperators);
  if (happened === null) throw fault('field', `Unknown field "${field}"`);
  return { kind: 'event', name: field, test: happenedTest(happened, written) };
}

/** A filter as the caller wrote it, with a field and a known operator; its readers throw for what does not fit them. */
class WrittenFilter {
  readonly #field: string;
  readonly #operator: Operator;
  readonly #raw: Record<string, unknown>;
  readonly fault: FilterFault;

  constructor(field: string, operator: Operator, raw: Record<string, unknown>, fault: FilterFault) {
    this.#field = field;
    this.#operator = operator;
    this.#raw = raw;
    this.fault = fault;
  }

  /** The operator, which must be one of these. */
  allow<const T extends Operator>(allowed: readonly T[]): T {
    const found = oneOf(this.#operator, allowed);
    if (found === null)
      throw this.fault('operator', `"${this.#operator}" does not apply to "${this.#field}"; use ${allowed.join(', ')}`);
    return found;
  }

  value(): unknown {
    if (this.#raw.value === undefined) throw this.fault('value', `"${this.#operator}" needs a "value"`);
    return this.#raw.value;
  }

  text(): string {
    const value = this.value();
    if (typeof value !== 'string') throw this.fault('value', `"value" must be a string for "${this.#field}"`);
    return value;
  }

  boolean(): boolean {
    const value = this.value();
    if (value === true || value === 'true') return true;
    if (value === false || value === 'false') return false;
    throw this.fault('value', `"value" must be true or false for "${this.#field}"`);
  }

  date(): NonNullable<ReturnType<typeof readDate>> {
    const date = readDate(this.text());
    if (date === null) throw this.fault('value', `"value" must be a date for "${this.#field}"`);
    return date;
  }

  /** The length of a window in milliseconds. */
  milliseconds(): number {
    const value = this.value();
    const count = typeof value === 'string' && decimal.test(value.trim()) ? Number(value) : value;
    if (typeof count !== 'number' || !Number.isFinite(count) || count < 0)
      throw this.fault('value', `"value" must be a number of at least 0 for "${this.#operator}"`);
    const unit = typeof this.#raw.unit === 'string' ? unitLengths.get(this.#raw.unit) : undefined;
    if (unit === undefined) throw this.fault('unit', `"${this.#operator}" needs a "unit": days, hours or minutes`);
    return count * unit;
  }
}

function emailFilter(written: WrittenFilter): ConditionFilter {
  const operator = written.allow(textOperators);
  const text = lowerCase(written.text());
  return { kind: 'email', operator, text: operator === 'equals' || operator === 'notEquals' ? text.trim() : text };
}

function dateTest(written: WrittenFilter): DateFilter['test'] {
  const operator = written.allow(dateOperators);
  if (operator === 'within' || operator === 'olderThan') return { operator, milliseconds: written.milliseconds() };
  const { instant, iso } = written.date();
  if (operator !== 'equals' && operator !== 'notEquals') return { operator, instant };
  return spanTest(operator, iso ? utcDay(instant) : { from: instant, until: instant + 1 });
}

function dataFilter(key: string, written: WrittenFilter): ConditionFilter {
  const path = key.split('.');
  if (key === '') throw written.fault('field', '"data." needs the name of a key');
  if (path.includes('__proto__')) throw written.fault('field', 'The key "__proto__" is not allowed');
  if (path.length > maxPathSteps) throw written.fault('field', `A path may have at most ${maxPathSteps} steps`);
  return { kind: 'data', key, path, test: dataTest(written.allow(dataOperators), written) };
}

function dataTest(operator: (typeof dataOperators)[number], written: WrittenFilter): DataTest {
  switch (operator) {
    case 'exists':
    case 'notExists':
      return { operator };
    case 'within':
    case 'olderThan':
      return { operator, milliseconds: written.milliseconds() };
    case 'equals':
    case 'notEquals': {
      const value = written.value() as DataValue;
      if (value === null) return { operator: operator === 'equals' ? 'notExists' : 'exists' };
      const instant = typeof value === 'string' ? parseIsoDate(value) : null;
      return instant === null ? { operator, value } : spanTest(operator, utcDay(instant));
    }
    case 'contains':
    case 'notContains': {
      const value = written.value();
      if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
        throw written.fault('value', `"value" must be text for "${operator}"`);
      return { operator, text: String(value) };
    }
    default: {
      const value = written.value() as DataValue;
      if (value === null) throw written.fault('value', `"${operator}" cannot compare with null`);
      return { operator, value, instant: typeof value === 'string' ? parseIsoDate(value) : null };
    }
  }
}

function happenedTest(operator: (typeof happenedOperators)[number], written: WrittenFilter): HappenedTest {
  if (operator === 'triggered' || operator === 'notTriggered') return { operator };
  return { operator, milliseconds: written.milliseconds() };
}

function spanTest(operator: 'equals' | 'notEquals', span: { from: number; until: number }): SpanTest {
  return { operator: operator === 'equals' ? 'in' : 'notIn', ...span };
}

// Only ASCII letters, as in stored addresses: lower-casing all of Unicode would turn the Kelvin sign into a k.
function lowerCase(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function oneOf<const T extends string>(text: string, allowed: readonly T[]): T | null {
  return allowed.find((each) => each === text) ?? null;
}
