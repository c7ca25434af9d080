import type { App } from '../http/context.ts';
import { badRequest, conflict, notFound } from '../lib/errors.ts';
import { isUuid } from '../lib/ids.ts';
import { decodeCursor, encodeCursor, isInstant, offsetAnswer, offsetPage } from '../lib/pages.ts';
import { recordChange } from '../projects/audit/record.ts';
import { enqueue, type OutboxTicket } from '../store/outbox/queries.ts';
import type { Database } from '../store/sql.ts';
import { scheduleCommand } from './enrollment/triggers.ts';
import {
  type AutomationFilter,
  countAutomations,
  deleteAutomations,
  findAutomation,
  found,
  lockAutomationsForDeletion,
  pageOfAutomations,
} from './queries.ts';
import { checkRevision, hasActiveRuns, workflowBody } from './rows.ts';
import type { BulkUpdateWorkflows, ListWorkflows } from './schema.ts';

/** An answer, and what the outbox has to do about it after the commit. */
export interface Changed<Body> {
  body: Body;
  tickets: OutboxTicket[];
}

/** Returns the response once the outbox is notified. */
export function dispatched<Body>({ outbox }: Pick<App, 'outbox'>, { body, tickets }: Changed<Body>): Body {
  outbox.dispatchSoon(...tickets);
  return body;
}

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

/**
 * Deletes automations with everything of them but their mail: all or none.
 * @throws 404 for an unknown id, 409 while executions are active, 412 where another revision was seen
 */
export function deleteAutomationsOf(db: Database, projectId: string, ids: readonly string[], ifMatch = '') {
  return db.transaction(async (tx) => {
    const automations = await lockAutomationsForDeletion(tx, projectId, ids);
    const known = new Set(automations.map(({ id }) => id));
    const unknown = ids.find((id) => !known.has(id));
    if (unknown !== undefined) throw notFound('workflow', unknown);
    for (const automation of automations) await checkRevision(tx, automation, ifMatch);
    if (await hasActiveRuns(tx, ids))
      throw conflict('A workflow with active executions cannot be deleted: cancel them first');
    const deleted = await deleteAutomations(tx, ids);
    const tickets: OutboxTicket[] = [];
    for (const automation of automations)
      if (automation.triggerType === 'SCHEDULE' && automation.enabled)
        tickets.push(await enqueue(tx, scheduleCommand({ ...automation, enabled: false }, 0)));
    for (const { id, name } of automations)
      await recordChange(tx, projectId, { action: 'workflow.deleted', target: id, before: { name } });
    return { deleted, tickets };
  });
}

/** Deletes several automations, all or none. @throws 404 for an unknown id, 409 while executions are active */
export async function bulkUpdateAutomations(
  db: Database,
  projectId: string,
  body: BulkUpdateWorkflows,
): Promise<Changed<{ deleted: number } | { updated: number }>> {
  const ids = [...new Set(body.ids)];
  if (body.delete === true) {
    const { deleted, tickets } = await deleteAutomationsOf(db, projectId, ids);
    return { body: { deleted }, tickets };
  }
  for (const id of ids) found(await findAutomation(db, projectId, id), id);
  return { body: { updated: 0 }, tickets: [] };
}
