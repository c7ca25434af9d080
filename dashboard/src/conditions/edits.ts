import { type FieldKind, needsOf, operatorsOf, typesFor, type ValueType } from './grammar.ts';
import { type ConditionForm, type FormFilter, type FormGroup, newKey } from './tree.ts';

/** A filter as it is added: still to be filled in. */
export function newFilter(): FormFilter {
  return withKind({ key: newKey(), name: '', isBare: false, operator: '', type: 'text', text: '', unit: '' }, 'email');
}

/** A group with one filter to be filled in. */
export function newGroup(): FormGroup {
  return { key: newKey(), filters: [newFilter()], nested: null };
}

/** A condition with one group to be filled in. */
export function newForm(logic: ConditionForm['logic'] = 'AND'): ConditionForm {
  return { key: newKey(), logic, groups: [newGroup()] };
}

/** A form in which the group of that key is what `change` makes of it; null takes it out. */
export function changeGroup(
  form: ConditionForm,
  key: string,
  change: (group: FormGroup) => FormGroup | null,
): ConditionForm {
  const groups = form.groups.flatMap((group) => {
    const next = group.key === key ? change(group) : group;
    return next === null ? [] : [next];
  });
  return { ...form, groups };
}

/** A group in which the filter of that key is what `change` makes of it; null takes it out. */
export function changeFilter(group: FormGroup, key: string, next: FormFilter | null): FormGroup {
  return {
    ...group,
    filters: group.filters.flatMap((filter) => (filter.key !== key ? [filter] : next === null ? [] : [next])),
  };
}

/** The filter on another kind of field, with the kind's first operator where the old one does not apply. */
export function withKind(filter: Omit<FormFilter, 'kind'>, kind: FieldKind): FormFilter {
  const operators = operatorsOf[kind];
  const operator = operators.includes(filter.operator) ? filter.operator : (operators[0] ?? '');
  const name = kind === 'activity' ? 'opened' : '';
  const { more: _, tests: __, ...plain } = filter;
  return withOperator({ ...plain, kind, name, isBare: false, text: '' }, operator);
}

/** The filter with another operator; its value stays where it fits. */
export function withOperator(filter: FormFilter, operator: string): FormFilter {
  const wasWindow = needsOf(filter.operator) === 'window';
  const isWindow = needsOf(operator) === 'window';
  const types = typesFor(filter.kind, operator);
  const stays = types.includes(filter.type) && wasWindow === isWindow;
  const type = stays ? filter.type : (types[0] ?? 'text');
  const { times: _, ...untimed } = filter.more ?? {};
  return {
    ...filter,
    ...(filter.more ? { more: hasTimes(operator) ? filter.more : untimed } : {}),
    operator,
    type,
    text: stays ? filter.text : firstText(type),
    unit: isWindow ? filter.unit || 'days' : '',
  };
}

/** Whether it can be asked how often an event happened. */
export function hasTimes(operator: string): boolean {
  return operator === 'triggered' || operator === 'triggeredWithin';
}

/** The filter on another activity of emails; a link stays with clicks alone. */
export function withActivity(filter: FormFilter, name: string): FormFilter {
  return { ...(name === 'clicked' ? filter : narrowed(filter, { link: null })), name };
}

/** The filter with other parts that narrow it; null and '' take a part out. */
export function narrowed(filter: FormFilter, part: NonNullable<FormFilter['more']>): FormFilter {
  const { more: before, ...rest } = filter;
  const more = Object.fromEntries(Object.entries({ ...before, ...part }).filter(([, value]) => value));
  return Object.keys(more).length > 0 ? { ...rest, more } : rest;
}

/** The filter with these tests of the event's data. */
export function withTests(filter: FormFilter, tests: FormFilter[]): FormFilter {
  const { tests: _, ...rest } = filter;
  return tests.length > 0 ? { ...rest, tests } : rest;
}

/** A test of an event's data, to be filled in. */
export function newTest(): FormFilter {
  return withKind(newFilter(), 'trigger');
}

/** The filter with a value of another type. */
export function withType(filter: FormFilter, type: ValueType): FormFilter {
  return { ...filter, type, text: firstText(type) };
}

/** The API's names for the types of contact fields, as types of values. */
const inferred: Record<string, ValueType> = { string: 'text', number: 'number', boolean: 'boolean', date: 'day' };

/** The filter on the contact field of that name; the field's type, where it is known, becomes that of the value. */
export function withDataKey(filter: FormFilter, name: string, fieldType: string | undefined): FormFilter {
  const named = { ...filter, name };
  const type = fieldType === undefined ? undefined : inferred[fieldType];
  if (type === undefined || type === filter.type || needsOf(filter.operator) !== 'value') return named;
  return typesFor('data', filter.operator).includes(type) ? withType(named, type) : named;
}

function firstText(type: ValueType): string {
  return type === 'boolean' ? 'true' : '';
}
