import { badRequest } from '../lib/errors.ts';
import { isUuid } from '../lib/ids.ts';
import { RecentResults } from '../lib/keyed-turns.ts';
import { isInstant } from '../lib/pages.ts';
import { likeText } from '../lib/text.ts';
import { type Database, type Query, raw, sql, unprepared } from '../store/sql.ts';
import { contactTotals } from './catalogue-queries.ts';
import { Contact, contactColumns, contactsWithin, type ListedContact } from './entity.ts';
import type { ContactBody } from './schema.ts';

/** One contact of the project, or null. */
export function findContact(db: Database, projectId: string, id: string): Promise<ListedContact | null> {
  return db.row<ListedContact>(
    contactsWithin(sql`select ${contactColumns} from contacts c where project_id = ${projectId} and id = ${id}`),
  );
}

/** Returns those of the addresses, in their stored form, that are contacts of the project. */
export async function existingAddresses(
  db: Database,
  projectId: string,
  addresses: readonly string[],
): Promise<Set<string>> {
  const where = { projectId, email: [...addresses] };
  const contacts = await db.em.find(Contact, where, { fields: ['email'], disableIdentityMap: true });
  return new Set(contacts.map(({ email }) => email));
}

/** A contact of a list in an answer. */
export function contactBody({ data, dataOmitted, ...row }: ListedContact): ContactBody {
  return { ...row, data: data ?? {}, ...(dataOmitted ? { dataOmitted } : {}) };
}

/** Whether an error is Postgres's refusal of a second row with the same key. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && (error as Error & { code?: unknown }).code === '23505';
}

/** Which contacts of the project are meant: `email` is a normalized address, `search` a part of one in any letter case. */
export interface ContactFilter {
  email?: string | null;
  search: string | null;
  subscribed: boolean | null;
  /** A condition tree as its compiler left it; none when absent. */
  condition?: CompiledCondition | null;
}

/** A condition on the alias `c`, for a page of its matches or for all of them; equal keys are equal conditions. */
interface CompiledCondition {
  key: string;
  page: Query;
  all: Query;
}

/** The sort orders of lists of contacts. */
export const contactSorts = ['email', 'createdAt', 'updatedAt'] as const;
type ContactSort = (typeof contactSorts)[number];

const sortColumns = {
  email: { column: raw('email'), type: raw('text') },
  createdAt: { column: raw('created_at'), type: raw('timestamptz') },
  updatedAt: { column: raw('updated_at'), type: raw('timestamptz') },
} as const;

/** How a page of contacts is chosen. */
interface ContactPageRequest extends ContactFilter {
  limit: number;
  sort: ContactSort;
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
  const { column, type } = sortColumns[page.sort];
  const dir = raw(page.dir);
  const [value, id] = page.after ?? [null, null];
  const rows = sql`
    select ${contactColumns} from contacts c where ${matching(projectId, page)}
      and (${id}::uuid is null or (c.${column}, c.id) ${raw(page.dir === 'asc' ? '>' : '<')} (${value}::${type}, ${id}::uuid))
    order by c.${column} ${dir}, c.id ${dir} limit ${page.limit + 1}`;
  return db.rows<ListedContact>(contactsWithin(rows));
}

// Counting a third of a million addresses takes longer than finding a page of them.
const largeFrom = 10_000;
const largeCounts = new RecentResults<number>({ entries: 1_000, now: () => performance.now() });

/**
 * How many contacts a filter leaves. Without a search or a condition the number is known; with one it is counted, and a number above
 * 10,000 may be half a minute old.
 */
export async function countContacts(db: Database, projectId: string, filter: ContactFilter): Promise<number> {
  if (matchesNobody(filter)) return 0;
  if (filter.email == null && filter.search === null && !filter.condition) {
    const { contacts, subscribed } = await contactTotals(db, projectId);
    return filter.subscribed === null ? contacts : filter.subscribed ? subscribed : contacts - subscribed;
  }
  return largeCounts.get(
    JSON.stringify([projectId, filter.email, filter.search?.toLowerCase(), filter.subscribed, filter.condition?.key]),
    () => countFitting(db, projectId, matching(projectId, filter, 'all')),
    (total) => (total > largeFrom ? 30_000 : 0),
  );
}

/** How many contacts of a project fit a condition on `contacts c`. */
export async function countFitting(db: Database, projectId: string, condition: Query): Promise<number> {
  const row = await db.row<{ total: number }>(
    sql`select count(*)::int as total from contacts c where c.project_id = ${projectId} and ${condition}`,
  );
  return row?.total ?? 0;
}

/**
 * A filter as SQL on `contacts c`; expects a filter that can match a contact. How many contacts a search or a condition finds
 * depends on its values, so statements with it are not prepared: planned for its values, they lose what is null.
 */
export function matching(
  projectId: string,
  { email, search, subscribed, condition }: ContactFilter,
  reach: 'page' | 'all' = 'page',
): Query {
  // Stored addresses are lower case, so that there is no need to fold theirs.
  const pattern = search === null ? null : `%${likeText(search.toLowerCase())}%`;
  return unprepared(sql`
    c.project_id = ${projectId}
    and (${pattern}::text is null or c.email like ${pattern})
    and (${email}::text is null or c.email = ${email})
    and (${subscribed}::boolean is null or c.subscribed = ${subscribed})
    and ${condition?.[reach] ?? raw('true')}`);
}

/** Whether no contact can match: Postgres stores no U+0000 in text, and refuses it in a search. */
export function matchesNobody(filter: ContactFilter): boolean {
  return filter.search?.includes('\0') ?? false;
}

/** Reads the place out of a cursor's parts. @throws 400 for a cursor of another list */
export function placeAfter(parts: readonly (string | number)[], sort: ContactSort): [string, string] {
  const [value, id] = parts;
  const fits = sort === 'email' ? typeof value === 'string' && !value.includes('\0') : isInstant(value);
  if (!fits || typeof value !== 'string' || typeof id !== 'string' || !isUuid(id))
    throw badRequest('"cursor" is not a cursor of this list');
  return [value, id];
}
