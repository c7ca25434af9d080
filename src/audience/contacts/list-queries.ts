import { type Database, join, type Query, raw, sql, unprepared } from '../../core/database/sql.ts';
import { isInstant } from '../../core/lib/cursor.ts';
import { badRequest } from '../../core/lib/errors.ts';
import { isUuid } from '../../core/lib/ids.ts';
import { RecentResults } from '../../core/lib/recent-results.ts';
import { contactTotals } from './catalogue-queries.ts';
import { contactColumns, contactsWithin, type ListedContact } from './queries.ts';

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
export async function pageOfContacts(
  db: Database,
  projectId: string,
  page: ContactPageRequest,
): Promise<ListedContact[]> {
  if (matchesNobody(page)) return [];
  const [column, type] =
    page.sort === 'email' ? (['email', 'text'] as const) : (['created_at', 'timestamptz'] as const);
  const dir = raw(page.dir);
  const after =
    page.after === null
      ? raw('')
      : sql`
        and (${raw(column)}, id) ${raw(page.dir === 'asc' ? '>' : '<')}
        (${page.after[0]}::${raw(type)}, ${page.after[1]}::uuid)`;
  const rows = sql`
    select ${contactColumns} from contacts c where ${matching(projectId, page)} ${after}
    order by c.${raw(column)} ${dir}, c.id ${dir} limit ${page.limit + 1}`;
  return db.rows<ListedContact>(unprepared(contactsWithin(rows)));
}

// Counting a third of a million addresses takes longer than finding a page of them.
const largeFrom = 10_000;
const largeCounts = new RecentResults<number>({ entries: 1_000, now: () => performance.now() });

/**
 * How many contacts a filter leaves. Without a search the number is known; with one it is counted, and a number above
 * 10,000 may be half a minute old.
 */
export async function countContacts(db: Database, projectId: string, filter: ContactFilter): Promise<number> {
  if (matchesNobody(filter)) return 0;
  if (filter.search === null) {
    const { contacts, subscribed } = await contactTotals(db, projectId);
    return filter.subscribed === null ? contacts : filter.subscribed ? subscribed : contacts - subscribed;
  }
  return largeCounts.get(
    JSON.stringify([projectId, filter.search.toLowerCase(), filter.subscribed]),
    () => countFiltered(db, projectId, filter),
    (total) => (total > largeFrom ? 30_000 : 0),
  );
}

async function countFiltered(db: Database, projectId: string, filter: ContactFilter): Promise<number> {
  const row = await db.row<{ total: number }>(
    unprepared(sql`select count(*)::int as total from contacts where ${matching(projectId, filter)}`),
  );
  return row?.total ?? 0;
}

/**
 * A filter as SQL on `contacts`; expects a filter that can match a contact. How many contacts a search finds depends on its
 * text, so statements with it are better not prepared.
 */
export function matching(projectId: string, { search, subscribed }: ContactFilter): Query {
  const where = [sql`project_id = ${projectId}`];
  // Stored addresses are lower case, so that there is no need to fold theirs.
  if (search !== null) where.push(sql`email like ${`%${search.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`}`);
  if (subscribed !== null) where.push(sql`subscribed = ${subscribed}`);
  return join(where, ' and ');
}

/** Whether no contact can match: Postgres stores no U+0000 in text, and refuses it in a search. */
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
