import type {
  Activity,
  ConditionFilter,
  DataTest,
  DataValue,
  DateFilter,
  HappenedTest,
  MailSource,
  SpanTest,
  Times,
  ValueFilter,
  WindowTest,
} from './condition.ts';
import { parseIsoDate, readDate, unitLengths, utcDay } from './dates.ts';

const comparisons = ['greaterThan', 'lessThan', 'greaterThanOrEqual', 'lessThanOrEqual'] as const;
/** The four ordering operators. */
export type Comparison = (typeof comparisons)[number];

/** The operators that look for one text within another. */
export type TextSearch = 'contains' | 'notContains';

const windowOperators = ['within', 'olderThan', 'withinNext', 'anniversaryWithin'] as const;
const dateOperators = ['equals', 'notEquals', ...comparisons, ...windowOperators] as const;
const textOperators = ['equals', 'notEquals', 'contains', 'notContains'] as const;
/** The operators that compare a field with a value. */
export const valueOperators = [...textOperators, ...comparisons] as const;
/** The operators on a value of an event's data. */
export const whereOperators = [...valueOperators, 'exists', 'notExists'] as const;
const dataOperators = [...whereOperators, ...windowOperators] as const;
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

/** Most tests of an event's data, and the most often that something can be asked to have happened. */
export const maxWhere = 5;
export const maxTimes = 10_000;
// An anniversary comes round within this time, whatever the date.
const longestYear = 366 * 86_400_000;

/** What narrows a filter on events or mail, with the kinds of fields that have it. */
const narrowing = { where: 'event', times: 'event', of: 'activity', link: 'activity' } as const;
const mailSources = ['stepId', 'campaignId', 'templateId'] as const;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Makes the error for a fault at one key of a filter, which has dots where it lies deeper: `where.0.path`. */
export type FilterFault = (key: string, message: string) => Error;

/**
 * Reads one filter of a tree by the tables of docs/contract/core.md#4-3. `place` is the filter's path, kept for later messages; `ofStep`
 * says that it may ask for `trigger.<key>`.
 */
export function parseFilter(
  raw: Record<string, unknown>,
  fault: FilterFault,
  place: string,
  ofStep: boolean,
): ConditionFilter {
  const { field } = raw;
  if (typeof field !== 'string' || field === '') throw fault('field', '"field" must be a non-empty string');
  if (typeof raw.operator !== 'string' || raw.operator === '')
    throw fault('operator', '"operator" must be a non-empty string');
  const operator = oneOf(raw.operator, allOperators);
  if (operator === null) throw fault('operator', `Unknown operator "${raw.operator}"`);
  const filter = plainFilter(new WrittenFilter(field, operator, raw, fault), place, ofStep);
  // On every other field they are ignored, as unknown keys are: stored trees may have them.
  if (filter.kind !== 'event' && filter.kind !== 'activity') return filter;
  for (const [key, kind] of Object.entries(narrowing))
    if (isGiven(raw[key]) && filter.kind !== kind) throw fault(key, `"${key}" does not apply to "${field}"`);
  if (filter.kind === 'event') return { ...filter, ...whereOf(raw, fault), ...timesOf(raw, filter.test, fault) };
  return { ...filter, ...mailOf(raw, filter.activity, fault, place) };
}

function plainFilter(written: WrittenFilter, place: string, ofStep: boolean): ConditionFilter {
  const { field, operator, fault } = written;
  if (field === 'email') return emailFilter(written);
  if (field === 'subscribed') {
    const isEqual = written.allow(['equals', 'notEquals']) === 'equals';
    return { kind: 'subscribed', expected: written.boolean() === isEqual };
  }
  if (field === 'createdAt' || field === 'updatedAt') return { kind: 'date', column: field, test: dateTest(written) };
  const [, prefix, name = ''] = /^(data|trigger|event|email|segment)\.(.*)$/s.exec(field) ?? [];
  switch (prefix) {
    case 'data':
      return { kind: 'data', ...keyFilter(name, written) };
    case 'trigger':
      if (ofStep) return { kind: 'trigger', ...keyFilter(name, written) };
      break;
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
  readonly field: string;
  readonly operator: Operator;
  readonly #raw: Record<string, unknown>;
  readonly fault: FilterFault;

  constructor(field: string, operator: Operator, raw: Record<string, unknown>, fault: FilterFault) {
    this.field = field;
    this.operator = operator;
    this.#raw = raw;
    this.fault = fault;
  }

  /** The operator, which must be one of these. */
  allow<const T extends Operator>(allowed: readonly T[]): T {
    const found = oneOf(this.operator, allowed);
    if (found === null)
      throw this.fault('operator', `"${this.operator}" does not apply to "${this.field}"; use ${allowed.join(', ')}`);
    return found;
  }

  value(): unknown {
    if (this.#raw.value === undefined) throw this.fault('value', `"${this.operator}" needs a "value"`);
    return this.#raw.value;
  }

  text(): string {
    const value = this.value();
    if (typeof value !== 'string') throw this.fault('value', `"value" must be a string for "${this.field}"`);
    return value;
  }

  boolean(): boolean {
    const value = this.value();
    if (value === true || value === 'true') return true;
    if (value === false || value === 'false') return false;
    throw this.fault('value', `"value" must be true or false for "${this.field}"`);
  }

  date(): NonNullable<ReturnType<typeof readDate>> {
    const date = readDate(this.text());
    if (date === null) throw this.fault('value', `"value" must be a date for "${this.field}"`);
    return date;
  }

  /** The length of a window in milliseconds. */
  milliseconds(): number {
    const value = this.value();
    const count = typeof value === 'string' && decimal.test(value.trim()) ? Number(value) : value;
    if (typeof count !== 'number' || !Number.isFinite(count) || count < 0)
      throw this.fault('value', `"value" must be a number of at least 0 for "${this.operator}"`);
    const unit = typeof this.#raw.unit === 'string' ? unitLengths.get(this.#raw.unit) : undefined;
    if (unit === undefined) throw this.fault('unit', `"${this.operator}" needs a "unit": days, hours or minutes`);
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
  if (isWindow(operator)) return windowTest(operator, written);
  const { instant, iso } = written.date();
  if (operator !== 'equals' && operator !== 'notEquals') return { operator, instant };
  return spanTest(operator, iso ? utcDay(instant) : { from: instant, until: instant + 1 });
}

function keyFilter(key: string, written: WrittenFilter): ValueFilter {
  if (key === '') throw written.fault('field', `"${written.field}" needs the name of a key`);
  return valueFilter(key, 'field', written, dataOperators);
}

function valueFilter(
  key: string,
  named: string,
  written: WrittenFilter,
  operators: readonly (typeof dataOperators)[number][],
): ValueFilter {
  const path = key.split('.');
  if (path.includes('__proto__')) throw written.fault(named, 'The key "__proto__" is not allowed');
  if (path.length > maxPathSteps) throw written.fault(named, `A path may have at most ${maxPathSteps} steps`);
  return { key, path, test: dataTest(written.allow(operators), written) };
}

/** Reads the tests of an event's data that stand by themselves, as `where` of a filter does; none for null or absent. */
export function parseWhere(where: unknown, fault: FilterFault): ValueFilter[] {
  return whereOf({ where }, fault).where ?? [];
}

/** The tests of an event's data that a filter names. */
function whereOf({ where }: Record<string, unknown>, fault: FilterFault): { where?: ValueFilter[] } {
  if (!isGiven(where)) return {};
  if (!Array.isArray(where) || where.length === 0 || where.length > maxWhere)
    throw fault('where', `"where" must be an array of 1 to ${maxWhere} tests of the event's data`);
  return {
    where: where.map((each: unknown, place) => {
      const at = (key: string, message: string) => fault(`where.${place}.${key}`, message);
      if (!isObject(each)) throw fault(`where.${place}`, 'A test must be an object with "path" and "operator"');
      const { path, operator } = each;
      if (typeof path !== 'string' || path === '') throw at('path', '"path" must be a non-empty string');
      const known = typeof operator === 'string' ? oneOf(operator, whereOperators) : null;
      if (known === null) throw at('operator', `"operator" must be one of ${whereOperators.join(', ')}`);
      return valueFilter(path, 'path', new WrittenFilter(path, known, each, at), whereOperators);
    }),
  };
}

/** How often an event must have happened. */
function timesOf(
  { times }: Record<string, unknown>,
  { operator }: HappenedTest,
  fault: FilterFault,
): { times?: Times } {
  if (!isGiven(times)) return {};
  if (operator !== 'triggered' && operator !== 'triggeredWithin')
    throw fault('times', `"times" does not apply to "${operator}"; use triggered or triggeredWithin`);
  if (!isObject(times) || (!isGiven(times.atLeast) && !isGiven(times.atMost)))
    throw fault('times', '"times" must be an object with "atLeast", "atMost" or both');
  const number = (key: string, otherwise: number | null) => {
    const value = times[key] ?? otherwise;
    if (value === null || (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= maxTimes))
      return value === null ? null : Number(value);
    throw fault(`times.${key}`, `"${key}" must be a whole number from 0 to ${maxTimes}`);
  };
  const [atLeast, atMost] = [number('atLeast', 1) ?? 1, number('atMost', null)];
  if (atMost === null && atLeast === 0) throw fault('times.atLeast', '"atLeast" 0 needs an "atMost"');
  if (atMost !== null && atMost < atLeast)
    throw fault('times.atMost', `"atMost" must be at least ${atLeast}, which is "atLeast"`);
  return { times: { atLeast, atMost } };
}

/** Which mail an activity is asked of, and which link. */
function mailOf(
  { of, link }: Record<string, unknown>,
  activity: Activity,
  fault: FilterFault,
  place: string,
): { of?: MailSource; link?: string } {
  if (isGiven(link) && activity !== 'clicked') throw fault('link', '"link" applies to "email.clicked" only');
  if (isGiven(link) && (typeof link !== 'string' || link === ''))
    throw fault('link', '"link" must be a non-empty string');
  return { ...(isGiven(of) ? { of: sourceOf(of, fault, place) } : {}), ...(typeof link === 'string' ? { link } : {}) };
}

function sourceOf(of: unknown, fault: FilterFault, place: string): MailSource {
  const named = isObject(of) ? mailSources.filter((kind) => isGiven(of[kind])) : [];
  const [kind] = named;
  if (!isObject(of) || kind === undefined || named.length > 1)
    throw fault('of', '"of" must be an object with one of "stepId", "campaignId" and "templateId"');
  const id = of[kind];
  if (typeof id !== 'string' || !uuid.test(id)) throw fault(`of.${kind}`, `"${kind}" must be a UUID`);
  return { kind, id: id.toLowerCase(), path: `${place}.of.${kind}` };
}

function windowTest(operator: WindowTest['operator'], written: WrittenFilter): WindowTest {
  const milliseconds = written.milliseconds();
  if (operator === 'anniversaryWithin' && milliseconds > longestYear)
    throw written.fault('value', '"anniversaryWithin" takes at most 366 days');
  return { operator, milliseconds };
}

function isWindow(operator: string): operator is WindowTest['operator'] {
  return oneOf(operator, windowOperators) !== null;
}

function dataTest(operator: (typeof dataOperators)[number], written: WrittenFilter): DataTest {
  switch (operator) {
    case 'exists':
    case 'notExists':
      return { operator };
    case 'within':
    case 'olderThan':
    case 'withinNext':
    case 'anniversaryWithin':
      return windowTest(operator, written);
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

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Whether a value is an object of JSON. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function oneOf<const T extends string>(text: string, allowed: readonly T[]): T | null {
  return allowed.find((each) => each === text) ?? null;
}
