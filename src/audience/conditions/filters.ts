import type { JsonValue } from '../../core/lib/json.ts';
import { parseIsoDate, readDate, unitLengths, utcDay } from './dates.ts';
import type { Activity, DataTest, Filter, HappenedTest, SpanTest, WindowTest } from './schema.ts';

/** The four ordering operators. */
export type Comparison = 'greaterThan' | 'lessThan' | 'greaterThanOrEqual' | 'lessThanOrEqual';

/** The operators that look for one text within another. */
export type TextSearch = 'contains' | 'notContains';

const comparisons = ['greaterThan', 'lessThan', 'greaterThanOrEqual', 'lessThanOrEqual'] as const;
const dateOperators = ['equals', 'notEquals', ...comparisons, 'within', 'olderThan'] as const;
const textOperators = ['equals', 'notEquals', 'contains', 'notContains'] as const;
const dataOperators = [...textOperators, ...comparisons, 'within', 'olderThan', 'exists', 'notExists'] as const;
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

// Each step of a path is an operator of its own in SQL; nobody nests contact data this deep.
const maxPathSteps = 20;
const decimal = /^\+?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** Makes the error for a fault at one key of a filter. */
export type Fault = (key: 'field' | 'operator' | 'value' | 'unit', message: string) => Error;

/** Reads one filter of a tree by the tables of contract page 1, 4.3. `place` is the filter's path, kept for later messages. */
export function parseFilter(raw: Record<string, unknown>, fault: Fault, place: string): Filter {
  const { field } = raw;
  if (typeof field !== 'string' || field === '') throw fault('field', '"field" must be a non-empty string');
  if (typeof raw.operator !== 'string' || raw.operator === '') {
    throw fault('operator', '"operator" must be a non-empty string');
  }
  const operator = oneOf(raw.operator, allOperators);
  if (operator === null) throw fault('operator', `Unknown operator "${raw.operator}"`);

  if (field === 'email') {
    const allowed = allow(operator, textOperators);
    const text = lowerCase(textValue());
    const whole = allowed === 'equals' || allowed === 'notEquals';
    return { kind: 'email', operator: allowed, text: whole ? text.trim() : text };
  }
  if (field === 'subscribed') {
    const allowed = allow(operator, ['equals', 'notEquals']);
    return { kind: 'subscribed', expected: booleanValue() === (allowed === 'equals') };
  }
  if (field === 'createdAt' || field === 'updatedAt') {
    return { kind: 'date', column: field, test: dateTest(allow(operator, dateOperators)) };
  }
  if (field.startsWith('data.')) {
    const key = field.slice('data.'.length);
    const path = key.split('.');
    if (key === '') throw fault('field', '"data." needs the name of a key');
    if (path.includes('__proto__')) throw fault('field', 'The key "__proto__" is not allowed');
    if (path.length > maxPathSteps) throw fault('field', `A path may have at most ${maxPathSteps} steps`);
    return { kind: 'data', key, path, test: dataTest(allow(operator, dataOperators)) };
  }
  if (field.startsWith('event.')) {
    const name = field.slice('event.'.length);
    if (name === '') throw fault('field', '"event." needs the name of an event');
    return { kind: 'event', name, test: happenedTest(allow(operator, happenedOperators)) };
  }
  if (field.startsWith('email.')) {
    const activity = activities.get(field.slice('email.'.length));
    if (!activity) {
      throw fault('field', `Unknown email activity "${field}"; an event of that name is "event.${field}"`);
    }
    return { kind: 'activity', activity, test: happenedTest(allow(operator, happenedOperators)) };
  }
  if (field.startsWith('segment.')) {
    const member = allow(operator, memberOperators) === 'memberOfSegment';
    const segmentId = field.slice('segment.'.length).toLowerCase();
    return { kind: 'segment', segmentId, member, path: `${place}.field` };
  }
  const happened = oneOf(operator, happenedOperators);
  if (happened === null) throw fault('field', `Unknown field "${field}"`);
  return { kind: 'event', name: field, test: happenedTest(happened) };

  function allow<const T extends Operator>(operator: Operator, allowed: readonly T[]): T {
    const found = oneOf(operator, allowed);
    if (found === null)
      throw fault('operator', `"${operator}" does not apply to "${field}"; use ${allowed.join(', ')}`);
    return found;
  }

  function presentValue(): unknown {
    if (raw.value === undefined) throw fault('value', `"${operator}" needs a "value"`);
    return raw.value;
  }

  function textValue(): string {
    const value = presentValue();
    if (typeof value !== 'string') throw fault('value', `"value" must be a string for "${field}"`);
    return value;
  }

  function booleanValue(): boolean {
    const value = presentValue();
    if (value === true || value === 'true') return true;
    if (value === false || value === 'false') return false;
    throw fault('value', `"value" must be true or false for "${field}"`);
  }

  function dateTest(operator: (typeof dateOperators)[number]) {
    if (operator === 'within' || operator === 'olderThan') return windowTest(operator);
    const date = readDate(textValue());
    if (date === null) throw fault('value', `"value" must be a date for "${field}"`);
    if (operator !== 'equals' && operator !== 'notEquals') return { operator, instant: date.instant };
    const span = date.iso ? utcDay(date.instant) : { from: date.instant, until: date.instant + 1 };
    return spanTest(operator, span);
  }

  function dataTest(operator: (typeof dataOperators)[number]): DataTest {
    switch (operator) {
      case 'exists':
      case 'notExists':
        return { operator };
      case 'within':
      case 'olderThan':
        return windowTest(operator);
      case 'equals':
      case 'notEquals': {
        const value = presentValue() as JsonValue;
        if (value === null) return { operator: operator === 'equals' ? 'notExists' : 'exists' };
        const instant = typeof value === 'string' ? parseIsoDate(value) : null;
        return instant === null ? { operator, value } : spanTest(operator, utcDay(instant));
      }
      case 'contains':
      case 'notContains': {
        const value = presentValue();
        if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
          throw fault('value', `"value" must be text for "${operator}"`);
        }
        return { operator, text: String(value) };
      }
      default: {
        const value = presentValue() as JsonValue;
        if (value === null) throw fault('value', `"${operator}" cannot compare with null`);
        return { operator, value, instant: typeof value === 'string' ? parseIsoDate(value) : null };
      }
    }
  }

  function happenedTest(operator: (typeof happenedOperators)[number]): HappenedTest {
    if (operator === 'triggered' || operator === 'notTriggered') return { operator };
    return { operator, milliseconds: windowLength() };
  }

  function windowTest(operator: WindowTest['operator']): WindowTest {
    return { operator, milliseconds: windowLength() };
  }

  function windowLength(): number {
    const value = presentValue();
    const count = typeof value === 'string' && decimal.test(value.trim()) ? Number(value) : value;
    if (typeof count !== 'number' || !Number.isFinite(count) || count < 0) {
      throw fault('value', `"value" must be a number of at least 0 for "${operator}"`);
    }
    const unit = typeof raw.unit === 'string' ? unitLengths.get(raw.unit) : undefined;
    if (unit === undefined) throw fault('unit', `"${operator}" needs a "unit": days, hours or minutes`);
    return count * unit;
  }
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
