import { isDeepStrictEqual } from 'node:util';
import { isTransient } from '@fernpost/renderer';
import { conditionQuery, eventQuery } from '../../contacts/conditions.ts';
import { filtersOf } from '../../lib/conditions/condition.ts';
import { parseIsoDate } from '../../lib/conditions/dates.ts';
import { type JsonObjectValue, type JsonValue, valueAtPath } from '../../lib/contact-data.ts';
import { AppError } from '../../lib/errors.ts';
import { stepDefinition, storedDefinition } from '../../segments/definition.ts';
import { type Database, join, type Query, raw, sql } from '../../store/sql.ts';
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

type Branch = { id: string } & (Comparison | { condition: unknown });

/** The config of a CONDITION that compares one field (docs/contract/campaigns-and-workflows.md#3-3). */
export type FieldCondition =
  | ({ mode?: undefined | 'binary'; field: string } & Comparison)
  | { mode: 'multi'; field?: string | null | undefined; branches: readonly Branch[] };

/** The shapes of a CONDITION's config. */
export type ConditionConfig = FieldCondition | { mode: 'tree'; condition: unknown };

/** The output of a CONDITION. */
export type ConditionOutput =
  | {
      field: string;
      operator: string;
      expectedValue: JsonValue;
      actualValue: JsonValue;
      result: boolean;
      branch: 'yes' | 'no';
    }
  | { field: string | null; mode: 'multi'; matchedBranch: string | null; actualValue: JsonValue; branch: string }
  | { mode: 'tree'; result: boolean; branch: 'yes' | 'no' };

/** What condition trees are asked of, besides the contact. */
export interface TreeScope {
  projectId: string;
  /** The instant that windows count from. */
  now: Date;
  /** Reads the data of the event that started the run; null for none. */
  trigger(): Promise<JsonObjectValue | null>;
  /** Events, mail and memberships after this instant do not count; all do when absent. */
  asOf?: Date;
}

/** Whether an event of a project passes the tests of a trigger or a wait, as far as these are of its data: of its name it is asked by others. */
export async function eventPasses(
  db: Database,
  projectId: string,
  { name, data }: { name: string; data: JsonObjectValue | null },
  where: unknown,
): Promise<boolean> {
  if (!where) return true;
  const row = await db.row<{ passes: boolean | null }>(sql`
    select ${eventQuery(projectId, name, where, new Date())} as passes
    from (select ${projectId}::uuid as project_id, ${name}::text as name, ${data}::jsonb as data) t`);
  return row?.passes ?? false;
}

/** Decides a CONDITION. @throws StepFailure for an operator that does not exist, and for a tree that cannot be asked */
export async function decideCondition(
  db: Database,
  config: ConditionConfig,
  facts: StepFacts,
  scope: TreeScope,
): Promise<ConditionOutput> {
  if (config.mode === 'tree') {
    const [result = false] = await treesHold(db, [config.condition], facts.contact, scope);
    return { mode: 'tree', result, branch: result ? 'yes' : 'no' };
  }
  const trees =
    config.mode === 'multi' ? config.branches.flatMap((each) => ('condition' in each ? [each.condition] : [])) : [];
  const held = trees.length === 0 ? [] : await treesHold(db, trees, facts.contact, scope);
  return evaluateStepCondition(config, facts, (condition) => held[trees.indexOf(condition)] ?? false);
}

/**
 * Whether condition trees hold for a contact as a step sees it, by the SQL that finds audiences. Test runs, whose steps change
 * nothing, ask the same. @throws StepFailure for a tree that cannot be asked
 */
export async function treesHold(
  db: Database,
  trees: readonly unknown[],
  { id, email, subscribed, data, createdAt, updatedAt }: StepContact,
  { projectId, now, trigger, asOf }: TreeScope,
): Promise<boolean[]> {
  try {
    const definitions = await Promise.all(trees.map((tree) => stepDefinition(db, projectId, tree)));
    const asksTrigger = definitions.some(({ condition }) =>
      filtersOf(condition).some(({ kind }) => kind === 'trigger'),
    );
    const event = asksTrigger ? await trigger() : null;
    const options = { projectId, now, reach: 'one', trigger: event, ...(asOf && { asOf }) } as const;
    const tests = definitions.map(({ condition, segments }) => conditionQuery(condition, { ...options, segments }));
    const row = await db.row<{ held: (boolean | null)[] }>(sql`
      select array[${join(tests, ', ')}] as held
      from (select ${id}::uuid as id, ${projectId}::uuid as project_id, ${email}::text as email, ${subscribed}::boolean as subscribed,
        ${data}::jsonb as data, ${createdAt}::timestamptz as created_at, ${updatedAt}::timestamptz as updated_at) c`);
    return trees.map((_, place) => row?.held[place] ?? false);
  } catch (error) {
    throw error instanceof AppError ? new StepFailure(error.message) : error;
  }
}

/**
 * SQL of whether a stored condition tree holds for the contacts `c`, for many of them or, by `reach`, each for itself. One that cannot be asked
 * any more holds for nobody.
 */
export async function storedTest(tx: Database, projectId: string, tree: unknown, reach?: 'one'): Promise<Query> {
  try {
    const { condition, segments } = await storedDefinition(tx, projectId, tree);
    return conditionQuery(condition, { projectId, now: new Date(), segments, ...(reach && { reach }) });
  } catch (error) {
    if (error instanceof AppError) return raw('false');
    throw error;
  }
}

/**
 * Evaluates a CONDITION that compares a field; `holds` answers for branches with a condition tree.
 * @throws StepFailure for an operator that does not exist
 */
export function evaluateStepCondition(
  config: FieldCondition,
  facts: StepFacts,
  holds: (condition: unknown) => boolean = () => false,
): ConditionOutput {
  const field = config.field ?? '';
  const actual = fieldValue(field, facts);
  const actualValue = actual ?? null;
  // Addresses differ by letter case without being others.
  const ignoreCase = field === 'contact.email';
  if (config.mode === 'multi') {
    const matches = (branch: Branch) =>
      'condition' in branch ? holds(branch.condition) : compare(actual, branch, ignoreCase);
    const matched = config.branches.find(matches)?.id ?? null;
    return {
      field: config.field ?? null,
      mode: 'multi',
      matchedBranch: matched,
      actualValue,
      branch: matched ?? 'default',
    };
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
