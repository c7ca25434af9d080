import type { Database } from '../../core/database/sql.ts';
import { conditionQuery } from '../conditions/index.ts';
import type { ContactFilter } from '../contacts/index.ts';
import { checkedDefinition, conditionObject, storedDefinition } from '../segments/index.ts';
import type { FilterBody } from './schema.ts';

const filterBy =
  (read: typeof checkedDefinition) =>
  async (db: Database, projectId: string, filter: FilterBody | undefined, now: Date): Promise<ContactFilter> => {
    const plain = { search: filter?.search || null, subscribed: filter?.subscribed ?? null };
    const given = filter?.condition ?? null;
    if (given === null) return plain;
    const tree = conditionObject(given, '"filter.condition" must be an object');
    const { condition, segments } = await read(db, projectId, tree);
    const compiled = (reach: 'page' | 'all') => conditionQuery(condition, { projectId, now, segments, reach });
    return {
      ...plain,
      condition: { key: JSON.stringify(given), page: compiled('page'), all: compiled('all') },
    };
  };

/**
 * A filter of a request, ready for queries. Windows of its condition count back from `now`.
 * @throws 400 that names the place in the condition
 */
export const checkedFilter = filterBy(checkedDefinition);

/** A filter that was checked when it was stored; segments of its condition that are gone have no members. */
export const storedFilter = filterBy(storedDefinition);
