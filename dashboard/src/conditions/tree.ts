import type { components } from '../api/schema.d.ts';
import { type FieldKind, maxTimes, needsOf, operatorsOf, testOperators, type ValueType } from './grammar.ts';

/** A condition as the API takes it. What a form holds may not be finished, which the API answers. */
export type Condition = components['schemas']['Condition'];

/** A condition as the dashboard reads it. */
export interface Tree {
  logic: string;
  groups: TreeGroup[];
}

/** A group of a tree: all filters and the nested condition must hold. */
export interface TreeGroup {
  filters: TreeFilter[];
  conditions?: Tree | null;
}

/** A filter of a tree. */
export interface TreeFilter {
  field: string;
  operator: string;
  value?: unknown;
  unit?: string;
  where?: readonly EventTest[] | null;
  times?: { atLeast?: number | null; atMost?: number | null } | null;
  of?: { stepId?: string | null; campaignId?: string | null; templateId?: string | null } | null;
  link?: string | null;
}

/** A test of a value of an event's data. */
interface EventTest {
  path: string;
  operator: string;
  value?: unknown;
}

/** What narrows a filter on events (`times`) or on emails (`of`, `link`), as trees have it. */
type Narrowing = Pick<TreeFilter, 'times' | 'of' | 'link'>;
/** The kinds of what an email is made by, by the key of its id in a tree. */
export type MailSourceKind = 'stepId' | 'campaignId' | 'templateId';

/** A condition as a form has it; every part has a key of its own that no edit changes. */
export interface ConditionForm {
  key: string;
  logic: 'AND' | 'OR';
  groups: FormGroup[];
}

/** A group of a form. */
export interface FormGroup {
  key: string;
  filters: FormFilter[];
  nested: ConditionForm | null;
}

/** A filter of a form. `text` is what the control of its type holds. */
export interface FormFilter {
  key: string;
  kind: FieldKind;
  /** The data key, the name of the event or activity, or the id of the segment; '' where the kind has none. */
  name: string;
  /** An event that is written without the prefix `event.`. */
  isBare: boolean;
  operator: string;
  type: ValueType;
  text: string;
  unit: string;
  more?: Narrowing;
  /** Tests of the event's data, each a filter of the kind `trigger` by the value's path. */
  tests?: FormFilter[];
}

let last = 0;

/** A key that no other part has. */
export function newKey(): string {
  last += 1;
  return `c${last}`;
}

/** The form of a tree. What the API ignores (a value that no operator asks for) is left out. */
export function formOf(tree: Tree): ConditionForm {
  return {
    key: newKey(),
    logic: tree.logic === 'OR' ? 'OR' : 'AND',
    groups: tree.groups.map(({ filters, conditions }) => ({
      key: newKey(),
      filters: filters.map(filterOf),
      nested: conditions ? formOf(conditions) : null,
    })),
  };
}

/** The tree of a form. A value that is not complete is absent, so that the API names its place. */
export function treeOf(form: ConditionForm): Tree {
  return {
    logic: form.logic,
    groups: form.groups.map(({ filters, nested }) => ({
      filters: filters.map(treeFilter),
      ...(nested ? { conditions: treeOf(nested) } : {}),
    })),
  };
}

/** A tree with its parts in the order in which forms write them, so that two of them can be compared as text. */
export function inOrder(tree: Tree): Tree {
  return treeOf(formOf(tree));
}

function filterOf(filter: TreeFilter): FormFilter {
  const { field, operator, value, unit } = filter;
  const given = needsOf(operator) === 'nothing' ? undefined : value;
  const more = narrowingOf(filter);
  const tests = filter.where?.map(testOf) ?? [];
  return {
    key: newKey(),
    ...fieldOf(field, operator),
    operator,
    ...controlOf(given),
    unit: unit ?? '',
    ...(Object.keys(more).length > 0 ? { more } : {}),
    ...(tests.length > 0 ? { tests } : {}),
  };
}

function narrowingOf({ times, of, link }: Narrowing): Narrowing {
  return { ...(times && { times }), ...(of && { of }), ...(link && { link }) };
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether an id is one of the service; steps that are not published have others. */
export function isUuid(id: string): boolean {
  return uuid.test(id);
}

function testOf({ path, ...rest }: EventTest): FormFilter {
  return filterOf({ field: `trigger.${path}`, ...rest });
}

/** Which kind of source a filter on emails names, and its id, which is '' while none is chosen; null for any email. */
export function sourceOf({ of }: Pick<TreeFilter, 'of'>): { kind: MailSourceKind; id: string } | null {
  const [named] = Object.entries(of ?? {}).filter(([, id]) => typeof id === 'string');
  return named ? { kind: named[0] as MailSourceKind, id: String(named[1]).toLowerCase() } : null;
}

/** Returns the subject of a filter's field, which for events written without a prefix depends on the operator. */
export function fieldOf(field: string, operator: string): Pick<FormFilter, 'kind' | 'name' | 'isBare'> {
  if (field === 'email' || field === 'subscribed' || field === 'createdAt' || field === 'updatedAt') {
    return { kind: field, name: '', isBare: false };
  }
  const [, prefix = '', name = ''] = /^(data|trigger|event|email|segment)\.(.*)$/s.exec(field) ?? [];
  if (prefix === '' || (prefix === 'trigger' && operatorsOf.event.includes(operator)))
    return { kind: 'event', name: field, isBare: true };
  return { kind: prefix === 'email' ? 'activity' : (prefix as FieldKind), name, isBare: false };
}

const day = /^\d{4}-\d\d-\d\d$/;
// Values that a date and time control can show without losing precision.
const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?Z$/;

function controlOf(value: unknown): Pick<FormFilter, 'type' | 'text'> {
  switch (typeof value) {
    case 'undefined':
      return { type: 'text', text: '' };
    case 'number':
    case 'boolean':
      return { type: typeof value as 'number' | 'boolean', text: String(value) };
    case 'string':
      return { type: day.test(value) ? 'day' : moment.test(value) ? 'moment' : 'text', text: value };
    default:
      return value === null ? { type: 'null', text: '' } : { type: 'json', text: JSON.stringify(value) };
  }
}

// Contact fields and data of the triggering event have values of every kind, under a name.
const holdsValues = (kind: FieldKind) => kind === 'data' || kind === 'trigger';

/** The field of a filter as the API writes it. */
export function fieldName({ kind, name, isBare }: Pick<FormFilter, 'kind' | 'name' | 'isBare'>): string {
  if (kind === 'event') return isBare ? name : `event.${name}`;
  if (kind === 'activity') return `email.${name}`;
  return holdsValues(kind) || kind === 'segment' ? `${kind}.${name}` : kind;
}

function treeFilter(filter: FormFilter): TreeFilter {
  const { operator, unit } = filter;
  const needs = needsOf(operator);
  const more = { ...(filter.tests ? { where: filter.tests.map(treeTest) } : {}), ...filter.more };
  if (needs === 'nothing') return { field: fieldName(filter), operator, ...more };
  const value = jsonValue(filter);
  return {
    field: fieldName(filter),
    operator,
    ...(value === undefined ? {} : { value }),
    ...(needs === 'window' && unit !== '' ? { unit } : {}),
    ...more,
  };
}

function treeTest(test: FormFilter): EventTest {
  const { field: _, ...rest } = treeFilter(test);
  return { path: test.name, ...rest };
}

/** The value of a filter as JSON; undefined while it is not complete. */
function jsonValue({ kind, operator, type, text }: FormFilter): unknown {
  switch (type) {
    case 'number':
      return text.trim() === '' || !Number.isFinite(Number(text)) ? undefined : Number(text);
    case 'boolean':
      return text === '' ? undefined : text === 'true';
    case 'null':
      return null;
    case 'json':
      return parsed(text);
    case 'day':
    case 'moment':
      return text === '' ? undefined : text;
    case 'text':
      // Only contact fields and data of events can hold, and be compared with, no text at all.
      return text === '' && (!holdsValues(kind) || operator === 'contains' || operator === 'notContains')
        ? undefined
        : text;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the missing part of a filter as a sentence; null when the filter is complete. */
export function missingOf(filter: FormFilter): string | null {
  const { kind, name, operator } = filter;
  if (kind === 'segment' && name === '') return 'Select a segment.';
  if (holdsValues(kind) && name === '') return 'Enter a field name.';
  if ((kind === 'event' || kind === 'activity') && name === '') return 'Enter an event name.';
  if (!operatorsOf[kind].includes(operator)) return 'Choose an operator.';
  return missingValue(filter) ?? missingNarrowing(filter);
}

function missingValue(filter: FormFilter): string | null {
  const needs = needsOf(filter.operator);
  if (needs === 'nothing') return null;
  const value = jsonValue(filter);
  if (value === undefined) return filter.type === 'json' ? 'Enter valid JSON.' : 'Enter a value.';
  if (needs === 'window' && (Number(value) < 0 || filter.unit === '')) return 'Enter a time of zero or more.';
  return null;
}

function missingNarrowing({ tests, more = {} }: FormFilter): string | null {
  for (const test of tests ?? []) {
    const missing = testOperators.includes(test.operator) ? missingOf(test) : 'Choose an operator.';
    if (missing !== null) return missing;
  }
  if (sourceOf(more)?.id === '') return 'Select an email.';
  const { atLeast, atMost } = more.times ?? {};
  const counts = [atLeast, atMost].filter((times) => typeof times === 'number');
  if (more.times && counts.length === 0) return 'Enter a number of times.';
  if (counts.some((times) => !Number.isInteger(times) || times < 0 || times > maxTimes))
    return 'Enter a whole number of times.';
  if (typeof atMost === 'number' ? atMost < (atLeast ?? 1) : atLeast === 0)
    return '“At most” must not be less than “At least”.';
  return null;
}

/** Every filter of a form, at any depth. */
export function* filtersIn(form: ConditionForm): Generator<FormFilter> {
  for (const { filters, nested } of form.groups) {
    yield* filters;
    if (nested) yield* filtersIn(nested);
  }
}

/** Every group of a form, at any depth, an outer one before what it holds. */
export function* groupsIn(form: ConditionForm): Generator<FormGroup> {
  for (const group of form.groups) {
    yield group;
    if (group.nested) yield* groupsIn(group.nested);
  }
}

/** Returns the reason that a tree is incomplete as a sentence; null when it is complete. */
export function missingIn(tree: Tree): string | null {
  for (const filter of filtersIn(formOf(tree))) {
    const missing = missingOf(filter);
    if (missing !== null) return missing;
  }
  return null;
}
