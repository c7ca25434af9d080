import { isDeepStrictEqual } from 'node:util';
import { isTransient } from '@fernpost/renderer';
import { parseIsoDate } from '../../lib/conditions/dates.ts';
import { type JsonObjectValue, type JsonValue, valueAtPath } from '../../lib/contact-data.ts';
import { StepFailure } from './directive.ts';

/** The contact as steps see it; instants are ISO 8601. */
export interface StepContact {
  id: string;
  email: string;
  subscribed: boolean;
  data: JsonObjectValue;
  createdAt: string;
  updatedAt: string;
}

/** The contact and the context that a step reads values from. */
export interface StepFacts {
  /** As it is when the step runs. */
  contact: StepContact;
  /** The run's context, null for none. */
  context: JsonObjectValue | null;
}

const contactFields: Record<string, (contact: StepContact) => JsonValue> = {
  id: (contact) => contact.id,
  email: (contact) => contact.email,
  subscribed: (contact) => contact.subscribed,
  createdAt: (contact) => contact.createdAt,
  updatedAt: (contact) => contact.updatedAt,
};

/**
 * The value of a field as CONDITION names it (docs/contract/campaigns-and-workflows.md#3-3): `contact.email` and the other fields
 * of a contact, `data.<key>` or `contact.data.<key>`, `event.<key>` or `workflow.<key>`. Undefined where there is none.
 */
export function fieldValue(field: string, { contact, context }: StepFacts): JsonValue | undefined {
  const [root = '', ...rest] = field.split('.');
  const path = rest.join('.');
  if (root === 'data') return valueAt(contact.data, path);
  if (root === 'event' || root === 'workflow') return context === null ? undefined : valueAt(context, path);
  if (root !== 'contact') return undefined;
  if (rest[0] === 'data') return valueAt(contact.data, rest.slice(1).join('.'));
  return Object.hasOwn(contactFields, path) ? contactFields[path]?.(contact) : undefined;
}

function valueAt(data: JsonObjectValue, path: string): JsonValue | undefined {
  return path === '' ? undefined : valueAtPath(data, path);
}

/**
 * The data of an event as runs see it: a `{ value, persistent: false }` stands for its value
 * (docs/contract/campaigns-and-workflows.md#3-2).
 */
export function contextOf(data: JsonObjectValue): JsonObjectValue {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, isTransient(value) ? (value.value as JsonValue) : value]),
  );
}

/** The context after an awaited event: merged shallowly, newer keys win (docs/contract/campaigns-and-workflows.md#3-3). */
export function mergeContext(
  context: JsonObjectValue | null,
  eventData: JsonObjectValue | null,
): JsonObjectValue | null {
  if (eventData === null) return context;
  return context === null ? eventData : { ...context, ...eventData };
}

/** Returns the length of a DELAY for its output, from the record of its config. */
export function unitsOfDelay(input: JsonObjectValue | null): JsonObjectValue {
  return { delayAmount: input?.amount ?? null, delayUnit: input?.unit ?? null };
}

/** A comparison of a field with a value. */
interface Comparison {
  operator: string;
  value?: JsonValue | undefined;
}

/** The two shapes of a CONDITION's config (docs/contract/campaigns-and-workflows.md#3-3). */
export type ConditionConfig =
  | ({ mode?: undefined | 'binary'; field: string } & Comparison)
  | { mode: 'multi'; field: string; branches: readonly ({ id: string } & Comparison)[] };

/** The output of a CONDITION. */
type ConditionOutput =
  | {
      field: string;
      operator: string;
      expectedValue: JsonValue;
      actualValue: JsonValue;
      result: boolean;
      branch: 'yes' | 'no';
    }
  | { field: string; mode: 'multi'; matchedBranch: string | null; actualValue: JsonValue; branch: string };

/** Evaluates a CONDITION. @throws StepFailure for an operator that does not exist */
export function evaluateStepCondition(config: ConditionConfig, facts: StepFacts): ConditionOutput {
  const { field } = config;
  const actual = fieldValue(field, facts);
  const actualValue = actual ?? null;
  // Addresses differ by letter case without being others.
  const ignoreCase = field === 'contact.email';
  if (config.mode === 'multi') {
    const matched = config.branches.find((branch) => compare(actual, branch, ignoreCase)) ?? null;
    return { field, mode: 'multi', matchedBranch: matched?.id ?? null, actualValue, branch: matched?.id ?? 'default' };
  }
  const result = compare(actual, config, ignoreCase);
  return {
    field,
    operator: config.operator,
    expectedValue: config.value ?? null,
    actualValue,
    result,
    branch: result ? 'yes' : 'no',
  };
}

function compare(given: JsonValue | undefined, { operator, value }: Comparison, ignoreCase: boolean): boolean {
  const test = Object.hasOwn(operators, operator) ? operators[operator] : undefined;
  if (test === undefined) throw new StepFailure(`The operator "${operator}" does not exist`);
  const [actual, expected] = ignoreCase ? [lowerCased(given), lowerCased(value)] : [given, value];
  return test(actual ?? null, expected ?? null);
}

type Test = (actual: JsonValue, expected: JsonValue) => boolean;

const operators: Record<string, Test> = {
  equals: (actual, expected) => isDeepStrictEqual(actual, expected),
  notEquals: (actual, expected) => actual !== null && !isDeepStrictEqual(actual, expected),
  contains: (actual, expected) => actual !== null && textOf(actual).includes(textOf(expected)),
  notContains: (actual, expected) => actual !== null && !textOf(actual).includes(textOf(expected)),
  greaterThan: ordered((actual, expected) => actual > expected),
  lessThan: ordered((actual, expected) => actual < expected),
  greaterThanOrEqual: ordered((actual, expected) => actual >= expected),
  lessThanOrEqual: ordered((actual, expected) => actual <= expected),
  exists: (actual) => actual !== null,
  notExists: (actual) => actual === null,
};

function ordered(test: (actual: number, expected: number) => boolean): Test {
  return (actual, expected) => {
    if (actual === null || expected === null) return false;
    const dates = [dateOf(actual), dateOf(expected)] as const;
    if (dates[0] !== null && dates[1] !== null) return test(dates[0], dates[1]);
    // Comparisons with NaN are false.
    return test(numberOf(actual), numberOf(expected));
  };
}

function dateOf(value: JsonValue): number | null {
  return typeof value === 'string' ? parseIsoDate(value) : null;
}

function numberOf(value: JsonValue): number {
  if (typeof value === 'object') return Number.NaN;
  return typeof value === 'string' && value.trim() === '' ? Number.NaN : Number(value);
}

function textOf(value: JsonValue): string {
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return value.map((item) => (item === null ? '' : textOf(item))).join(',');
  return value === null ? '' : JSON.stringify(value);
}

function lowerCased(value: JsonValue | undefined): JsonValue | undefined {
  return typeof value === 'string' ? value.toLowerCase() : value;
}
