import type { Database } from '../../core/database/sql.ts';
import { conditionQuery } from '../conditions/index.ts';
import type { ContactFilter } from '../contacts/index.ts';
import { checkedDefinition, conditionObject, type Definition, storedDefinition } from '../segments/index.ts';
import type { FilterBody } from './schema.ts';

/**
 * A filter of a request, ready for queries. Windows of its condition count back from `now`.
 * @throws 400 that names the place in the condition
 */
export async function checkedFilter(
  db: Database,
  projectId: string,
  filter: FilterBody | undefined,
  now: Date,
): Promise<ContactFilter> {
  const tree = treeOf(filter);
  return compiledFilter(projectId, filter, tree && (await checkedDefinition(db, projectId, tree)), now);
}

/** A filter that was checked when it was stored; segments of its condition that are gone have no members. */
export async function storedFilter(
  db: Database,
  projectId: string,
  filter: FilterBody | undefined,
  now: Date,
): Promise<ContactFilter> {
  const tree = treeOf(filter);
  return compiledFilter(projectId, filter, tree && (await storedDefinition(db, projectId, tree)), now);
}

function treeOf(filter: FilterBody | undefined): Record<string, unknown> | null {
  const condition = filter?.condition ?? null;
  return condition === null ? null : conditionObject(condition, '"filter.condition" must be an object');
}

function compiledFilter(
  projectId: string,
  filter: FilterBody | undefined,
  definition: Definition | null,
  now: Date,
): ContactFilter {
  const plain = { search: filter?.search || null, subscribed: filter?.subscribed ?? null };
  if (definition === null) return plain;
  const compiled = (reach: 'page' | 'all') =>
    conditionQuery(definition.condition, { projectId, now, segments: definition.segments, reach });
  return {
    ...plain,
    condition: { key: JSON.stringify(filter?.condition), page: compiled('page'), all: compiled('all') },
  };
}
