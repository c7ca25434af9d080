import type { Database } from '../core/database/sql.ts';
import { decodeCursor, encodeCursor, isInstant } from '../core/lib/cursor.ts';
import { badRequest } from '../core/lib/errors.ts';
import { isUuid } from '../core/lib/ids.ts';
import { offsetAnswer, offsetPage } from '../core/lib/offset-page.ts';
import { type AutomationFilter, countAutomations, pageOfAutomations } from './list-queries.ts';
import { workflowBody } from './rows.ts';
import type { ListWorkflows } from './schema.ts';

const sorts = ['name', 'createdAt', 'updatedAt', 'steps'] as const;

/**
 * A page of automations, newest first unless asked otherwise; by number, or after a cursor
 * (docs/contract/campaigns-and-workflows.md#3-5).
 */
export async function listAutomations(db: Database, projectId: string, query: ListWorkflows) {
  const place = query.cursor === undefined ? null : decodeCursor(query.cursor, 4);
  const page = offsetPage({ page: query.page, pageSize: query.limit ?? query.pageSize }, 100);
  // A cursor keeps the sort it was made with, so it says which one that was.
  const [sort, dir] = place ? [place[2], place[3]] : [query.sort, query.dir];
  const filter: AutomationFilter = {
    search: query.search?.trim().replaceAll('\0', '') || null,
    enabled: query.status === 'active' ? true : query.status === 'disabled' ? false : null,
    sort: sorts.find((known) => known === sort) ?? 'createdAt',
    dir: dir === 'asc' ? 'asc' : 'desc',
  };
  if (place && !(isUuid(String(place[1])) && isPlaceOf(filter.sort, String(place[0]))))
    throw badRequest('"cursor" is not a cursor of this list');
  const start = place ? { after: { place: String(place[0]), id: String(place[1]) } } : { offset: page.offset };
  const [rows, total] = await Promise.all([
    pageOfAutomations(db, projectId, filter, start, page.pageSize + 1),
    countAutomations(db, projectId, filter),
  ]);
  const shown = rows.slice(0, page.pageSize);
  const last = shown.at(-1);
  const hasMore = rows.length > page.pageSize;
  const data = shown.map(({ place: _, steps, executions, ...row }) => ({
    ...workflowBody(row),
    _count: { steps, executions },
  }));
  return {
    ...offsetAnswer(data, page, total),
    hasMore,
    cursor: hasMore && last ? encodeCursor([last.place, last.id, filter.sort, filter.dir]) : null,
  };
}

function isPlaceOf(sort: AutomationFilter['sort'], place: string): boolean {
  if (sort === 'name') return !place.includes('\0');
  return sort === 'steps' ? /^\d{1,9}$/.test(place) : isInstant(place);
}
