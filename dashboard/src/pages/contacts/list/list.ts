import type { components } from '../../../api/schema.d.ts';
import { useFilters, useProjectId } from '../../../app/address.ts';
import type { Condition, Tree } from '../../../conditions/tree.ts';

/** Which contacts a list shows, as the API takes it. */
export type ContactFilter = components['schemas']['ContactFilter'];
/** A contact of a list. */
export type Contact = components['schemas']['Contact'];

/** The sort keys of a list. */
export const sorts = ['email', 'createdAt', 'updatedAt'] as const;
/** The sort key and direction of a list. */
export type Sort = (typeof sorts)[number];

/** The columns of somebody who has chosen none. */
export const usualColumns: readonly string[] = ['email', 'subscribed', 'createdAt'];
const builtIn: Record<string, string> = {
  email: 'Email',
  subscribed: 'Subscription',
  createdAt: 'Created',
  updatedAt: 'Last updated',
  id: 'ID',
};
/** The columns that every contact has. */
export const builtInColumns: readonly string[] = Object.keys(builtIn);

/** Returns the label of a column. */
export function columnTitle(column: string): string {
  return builtIn[column] ?? column.replace(/^data\./, '');
}

/** The list that an address describes: contacts, order, columns, and saved view. */
export interface ListState {
  search: string;
  subscribed: boolean | undefined;
  condition: Tree | null;
  sort: Sort;
  dir: 'asc' | 'desc';
  /** Null where the address names none. */
  columns: readonly string[] | null;
  view: string | undefined;
}

/** The list that an address shows; what is not readable in it is left out. */
function stateOf(params: Record<string, string | undefined>): ListState {
  const { search = '', subscribed, where, sort, dir, columns, view } = params;
  const tree = parsed(where);
  const names = parsed(columns);
  return {
    search,
    subscribed: subscribed === 'true' ? true : subscribed === 'false' ? false : undefined,
    condition: isTree(tree) ? tree : null,
    sort: sorts.find((known) => known === sort) ?? 'createdAt',
    dir: dir === 'asc' ? 'asc' : 'desc',
    columns: Array.isArray(names) && names.length > 0 ? names.filter((name) => typeof name === 'string') : null,
    view,
  };
}

/** Returns the parameters of an address that shows a list. Every parameter is named, so that none of another list is left over. */
function paramsOf({ search, subscribed, condition, sort, dir, columns, view }: ListState) {
  return {
    search: search || undefined,
    subscribed: subscribed === undefined ? undefined : String(subscribed),
    where: condition ? JSON.stringify(condition) : undefined,
    sort: sort === 'createdAt' ? undefined : sort,
    dir: dir === 'desc' ? undefined : dir,
    columns: columns ? JSON.stringify(columns) : undefined,
    view,
  };
}

/** The filter of a list as the API takes it. */
export function filterOf({ search, subscribed, condition }: ListState): ContactFilter {
  return {
    ...(search ? { search } : {}),
    ...(subscribed === undefined ? {} : { subscribed }),
    ...(condition ? { condition: condition as Condition } : {}),
  };
}

/** How many filters a condition has. */
export function filtersOf(condition: Tree | null | undefined): number {
  return (condition?.groups ?? []).reduce(
    (sum, { filters, conditions }) => sum + filters.length + filtersOf(conditions),
    0,
  );
}

/** The list that the address of the page shows, and how to show another one. */
export function useListState(): [ListState, (change: Partial<ListState>) => void] {
  const [params, change] = useFilters();
  const state = stateOf(params);
  return [state, (next) => change(paramsOf({ ...state, ...next }))];
}

/** The columns that this browser shows of a project where the address names none. */
export function useChosenColumns(): [readonly string[] | null, (columns: readonly string[] | null) => void] {
  const project = useProjectId();
  const place = `fernpost.contacts.columns.${project}`;
  const stored = parsed(localStorage.getItem(place) ?? undefined);
  return [
    Array.isArray(stored) && stored.length > 0 ? (stored as string[]) : null,
    (columns) =>
      columns === null ? localStorage.removeItem(place) : localStorage.setItem(place, JSON.stringify(columns)),
  ];
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && Array.isArray((value as Partial<Tree>).groups);
}
