import type { Sql } from '../../core/database/sql.ts';
import { isInstant } from '../../core/lib/cursor.ts';
import { badRequest } from '../../core/lib/errors.ts';
import { isUuid } from '../../core/lib/ids.ts';
import { RecentResults } from '../../core/lib/recent-results.ts';
import { contactTotals } from './catalogue-queries.ts';
import { contactsColumnsOf, contactsWithin, type ListedContact } from './queries.ts';

/** Which contacts of the project are meant: `search` is a part of the address in any letter case. */
export interface ContactFilter {
  search: string | null;
  subscribed: boolean | null;
}

/** How a page of contacts is chosen. */
export interface ContactPageRequest extends ContactFilter {
  limit: number;
  sort: 'email' | 'createdAt';
  dir: 'asc' | 'desc';
  /** Sort value and id of the last row of the page before. */
  after: readonly [string, string] | null;
}

/** A page by keyset, in the order of the sort column and then the id; one row more than asked for when there is one. */
export async function pageOfContacts(sql: Sql, projectId: string, page: ContactPageRequest): Promise<ListedContact[]> {
  if (matchesNobody(page)) return [];
  const { where, values } = filterSql(projectId, page);
  const column = page.sort === 'email' ? 'email' : 'created_at';
  const type = page.sort === 'email' ? 'text' : 'timestamptz';
  if (page.after) {
    values.push(...page.after);
    const comparison = page.dir === 'asc' ? '>' : '<';
    where.push(`(${column}, id) ${comparison} ($${values.length - 1}::${type}, $${values.length}::uuid)`);
  }
  values.push(page.limit + 1);
  const rows = `select ${contactsColumnsOf} from contacts c where ${where.join(' and ')}
     order by c.${column} ${page.dir}, c.id ${page.dir} limit $${values.length}`;
  return sql.rows<ListedContact>(contactsWithin(rows), values);
}

// Counting a third of a million addresses takes longer than finding a page of them.
const largeFrom = 10_000;
const largeCounts = new RecentResults<number>({ entries: 1_000, now: () => performance.now() });

/**
 * How many contacts a filter leaves. Without a search the number is known; with one it is counted, and a number above
 * 10,000 may be half a minute old.
 */
export async function countContacts(sql: Sql, projectId: string, filter: ContactFilter): Promise<number> {
  if (matchesNobody(filter)) return 0;
  if (filter.search === null) {
    const { contacts, subscribed } = await contactTotals(sql, projectId);
    return filter.subscribed === null ? contacts : filter.subscribed ? subscribed : contacts - subscribed;
  }
  return largeCounts.get(
    JSON.stringify([projectId, filter.search.toLowerCase(), filter.subscribed]),
    () => countFiltered(sql, projectId, filter),
    (total) => (total > largeFrom ? 30_000 : 0),
  );
}

async function countFiltered(sql: Sql, projectId: string, filter: ContactFilter): Promise<number> {
  const { where, values } = filterSql(projectId, filter);
  const row = await sql.row<{ total: number }>(
    `select count(*)::int as total from contacts where ${where.join(' and ')}`,
    values,
  );
  return row?.total ?? 0;
}

/** A filter as SQL on `contacts`; `$1` is the project. Expects a filter that can match somebody. */
export function filterSql(projectId: string, filter: ContactFilter): { where: string[]; values: unknown[] } {
  const values: unknown[] = [projectId];
  const where = ['project_id = $1'];
  if (filter.search !== null) {
    // Stored addresses are lower case, so that there is no need to fold theirs.
    values.push(`%${filter.search.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`);
    where.push(`email like $${values.length}`);
  }
  if (filter.subscribed !== null) {
    values.push(filter.subscribed);
    where.push(`subscribed = $${values.length}`);
  }
  return { where, values };
}

/** Whether no contact can match: Postgres has no U+0000 in a text, and would refuse to look for it. */
export function matchesNobody(filter: ContactFilter): boolean {
  return filter.search?.includes('\0') ?? false;
}

/** Reads the place out of a cursor's parts. @throws 400 for a cursor of another list */
export function placeAfter(parts: readonly (string | number)[], sort: ContactPageRequest['sort']): [string, string] {
  const [value, id] = parts;
  const fits = sort === 'email' ? typeof value === 'string' && !value.includes('\0') : isInstant(value);
  if (!fits || typeof value !== 'string' || typeof id !== 'string' || !isUuid(id))
    throw badRequest('"cursor" is not a cursor of this list');
  return [value, id];
}
