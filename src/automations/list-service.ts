import type { App } from '../http/context.ts';
import { badRequest, conflict, notFound } from '../lib/errors.ts';
import { isUuid } from '../lib/ids.ts';
import { decodeCursor, encodeCursor, isInstant, offsetAnswer, offsetPage } from '../lib/pages.ts';
import { recordChange } from '../projects/audit/record.ts';
import { enqueue, type OutboxTicket } from '../store/outbox/queries.ts';
import { type Database, repeatable } from '../store/sql.ts';
import { scheduleCommand } from './enrollment/triggers.ts';
import { Automation } from './entity.ts';
import {
  type AutomationFilter,
  countAutomations,
  deleteAutomations,
  findAutomation,
  found,
  lockAutomation,
  lockAutomationsForDeletion,
  pageOfAutomations,
} from './queries.ts';
import { checkRevision, hasActiveRuns, keepLimits, keepSenders, workflowBody } from './rows.ts';
import { wakeHeldRuns } from './runs/queries.ts';
import type { BulkUpdateWorkflows, ListWorkflows, WorkflowBody } from './schema.ts';

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
  const stepId = query.stepId || null;
  if (stepId !== null && !isUuid(stepId)) throw badRequest('"stepId" must be a UUID');
  // A cursor keeps the sort it was made with, so it says which one that was.
  const [sort, dir] = place ? [place[2], place[3]] : [query.sort, query.dir];
  const filter: AutomationFilter = {
    search: query.search?.trim().replaceAll('\0', '') || null,
    enabled: query.status === 'active' ? true : query.status === 'disabled' ? false : null,
    stepId,
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
  return repeatable(db, async (tx) => {
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

/**
 * Pauses an automation: contacts inside stay where they are, timers may pass and wait, and those who would enter are pending until it
 * resumes. A step that runs at this moment is finished, and mail that it has queued is sent. One that is paused stays so. @throws 404
 */
export async function pauseAutomation(db: Database, projectId: string, id: string): Promise<WorkflowBody> {
  return repeatable(db, async (tx) => {
    const automation = found(await lockAutomation(tx, projectId, id), id);
    await keepLimits(tx, id);
    if (automation.pausedAt !== null) return workflowBody(automation);
    const now = new Date();
    await tx.em.nativeUpdate(Automation, { id }, { pausedAt: now, spreadUntil: null, updatedAt: now });
    await recordChange(tx, projectId, { action: 'workflow.paused', target: id });
    return workflowBody(found(await findAutomation(tx, projectId, id), id));
  });
}

/**
 * Lets the contacts of a paused automation go on, evenly over some minutes: those who have waited long enough are woken by signals that
 * become due one after the other, and those who came meanwhile enter as their turn comes. One that is not paused stays as it is.
 * @throws 404; 403 for a key whose senders or limits do not allow it
 */
export async function resumeAutomation(
  db: Database,
  projectId: string,
  id: string,
  spreadMinutes: number,
): Promise<WorkflowBody> {
  return repeatable(db, async (tx) => {
    const automation = found(await lockAutomation(tx, projectId, id), id);
    await keepLimits(tx, id);
    await keepSenders(tx, id);
    if (automation.pausedAt === null) return workflowBody(automation);
    const resumedAt = new Date();
    const spreadUntil = new Date(resumedAt.getTime() + spreadMinutes * 60_000);
    await tx.em.nativeUpdate(Automation, { id }, { pausedAt: null, resumedAt, spreadUntil, updatedAt: resumedAt });
    const held = await wakeHeldRuns(tx, id, spreadMinutes);
    await recordChange(tx, projectId, { action: 'workflow.resumed', target: id, after: { spreadMinutes, held } });
    return workflowBody(found(await findAutomation(tx, projectId, id), id));
  });
}
