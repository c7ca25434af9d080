import { isDeepStrictEqual } from 'node:util';
import { parseIsoDate } from '@fernpost/conditions';
import type { JsonValue } from '../../core/lib/json.ts';
import { StepFailure } from './failure.ts';
import { fieldValue, type StepFacts } from './values.ts';

/** A comparison of a field with a value. */
interface Comparison {
  operator: string;
  value?: JsonValue | undefined;
}

/** The two shapes of a CONDITION's config (docs/contract/campaigns-and-workflows.md#3-3). */
export type ConditionConfig =
  | ({ mode?: undefined | 'binary'; field: string } & Comparison)
  | { mode: 'multi'; field: string; branches: readonly ({ id: string } & Comparison)[] };

/** What a CONDITION found, as its output says it. */
export type ConditionOutput =
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
