import type { Readable } from 'node:stream';
import { conditionQuery } from '../../contacts/conditions/service.ts';
import { type ContactFilter, matchesNobody, matching } from '../../contacts/list-queries.ts';
import { leastId } from '../../lib/ids.ts';
import { streamOf } from '../../lib/streams.ts';
import { csvFile } from '../../lib/text.ts';
import { isoText } from '../../store/columns.ts';
import { type Database, join, type Query, raw, sql, unprepared } from '../../store/sql.ts';
import { checkedDefinition, conditionObject, storedDefinition } from '../definition.ts';
import type { ExportContacts, FilterBody } from './schema.ts';

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

const rowsPerPage = 1_000;

/**
 * The contacts that a filter leaves as a stream of CSV (RFC 4180, UTF-8): a header line, then a line for each in the order of
 * their ids, read a page at a time. Values that are no text are JSON.
 */
export function contactsCsv(
  db: Database,
  projectId: string,
  filter: ContactFilter,
  { columns, contactIds, excludeIds }: Omit<ExportContacts, 'filter'>,
): Promise<Readable> {
  return streamOf(csvFile(columns, pages()));

  async function* pages(): AsyncGenerator<unknown[][]> {
    if (matchesNobody(filter)) return;
    const only = contactIds === undefined ? sql`` : sql`and c.id = any(${contactIds}::uuid[])`;
    const cells = cellsOf(columns);
    for (let after = leastId; ; ) {
      const rows = await db.rows<{ id: string; cells: unknown[] }>(
        unprepared(sql`
          select c.id, ${cells} as cells from contacts c
          where ${matching(projectId, filter)} and c.id > ${after}::uuid ${only}
            and not (c.id = any(${excludeIds}::uuid[]))
          order by c.id limit ${rowsPerPage}`),
      );
      yield rows.map((row) => row.cells);
      if (rows.length < rowsPerPage) return;
      after = rows.at(-1)?.id ?? after;
    }
  }
}

// Only the fields of the file are read, because the data of a contact may be large.
function cellsOf(columns: readonly string[]): Query {
  const cells = columns.map((name) => builtIn[name] ?? sql`c.data -> ${name.slice('data.'.length)}::text`);
  return sql`jsonb_build_array(${join(cells, ', ')})`;
}

const builtIn: Record<string, Query> = {
  email: raw('c.email'),
  subscribed: raw('c.subscribed'),
  createdAt: raw(isoText('c.created_at')),
  updatedAt: raw(isoText('c.updated_at')),
  id: raw('c.id'),
};
