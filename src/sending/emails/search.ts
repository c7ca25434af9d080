import type { Database } from '../../core/database/sql.ts';
import { badRequest } from '../../core/lib/errors.ts';
import { firstIdAt } from '../../core/lib/ids.ts';
import { dateParameter, dayMs } from '../../core/lib/span.ts';
import type { EmailSearch } from './list-queries.ts';
import { contactOfAddress } from './queries.ts';
import type { EmailFilters } from './schema.ts';

const longestSpanDays = 31;

/**
 * The search that the filters of a request ask for; null where nobody can match. Mail of one person or tag is searched whole, other
 * mail in a span of at most 31 days. `isScheduled` needs neither.
 * @throws 400 for a search without a person, tag or span, or what is no date
 */
export async function emailSearch(
  db: Database,
  projectId: string,
  query: EmailFilters,
  now: Date,
  isScheduled = false,
): Promise<EmailSearch | null> {
  const from = dateParameter('from', query.from);
  const until = dateParameter('until', query.until) ?? now;
  const isNarrow = isScheduled || query.contactId !== undefined || query.to !== undefined || query.tag !== undefined;
  if (!isNarrow && (from === null || until.getTime() - from.getTime() > longestSpanDays * dayMs))
    throw badRequest(
      `Name "contactId", "to" or "tag", or a span of at most ${longestSpanDays} days with "from" (and "until")`,
      { field: 'from' },
    );
  const contactId =
    query.to === undefined ? (query.contactId ?? null) : await contactOfAddress(db, projectId, query.to);
  if (query.to !== undefined && (contactId === null || (query.contactId ?? contactId) !== contactId)) return null;
  return {
    projectId,
    contactId,
    tag: query.tag === undefined ? null : tagOf(query.tag),
    status: query.status ?? null,
    source: query.source ?? null,
    words: (query.subject ?? '').split(/\s+/u).filter((word) => word !== ''),
    // Ids carry the instant they were made at, a moment before their row.
    first: firstIdAt(from ?? new Date(0)),
    before: firstIdAt(query.until === undefined ? new Date(now.getTime() + dayMs) : until),
  };
}

function tagOf(tag: string): { name: string; value: string } {
  const colon = tag.indexOf(':');
  if (colon < 1) throw badRequest('"tag" is not "name:value"', { field: 'tag' });
  return { name: tag.slice(0, colon), value: tag.slice(colon + 1) };
}
