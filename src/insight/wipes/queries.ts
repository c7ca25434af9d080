import { randomBytes } from 'node:crypto';
import { defineEntity, type InferEntity } from '@mikro-orm/core';
import { type StartCommand, workflowId } from '../../../temporal/commands.ts';
import { openStatuses } from '../../lib/enums.ts';
import { conflict } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { pause } from '../../lib/time.ts';
import { recordChange } from '../../projects/audit/record.ts';
import { Membership, Project } from '../../projects/queries.ts';
import { baseColumns, removePast } from '../../store/columns.ts';
import { enqueue, type OutboxTicket } from '../../store/outbox/queries.ts';
import { type StalledQuery, stalledRows } from '../../store/outbox/recovery.ts';
import { recordingEvents } from '../../store/record-events.ts';
import { type Database, raw, sql } from '../../store/sql.ts';

const p = defineEntity.properties;

/** The removal of a project, or of everything in it, and how far it is. */
export const ProjectWipe = defineEntity({
  name: 'ProjectWipe',
  tableName: 'project_wipes',
  properties: {
    ...baseColumns,
    projectId: p.uuid(),
    kind: p.enum(['RESET', 'DELETE'] as const),
    /** Where it stands: the place in the list of tables, and the last id that is gone there. */
    place: p.integer().default(0),
    after: p.uuid().nullable(),
    /** How often the list has been begun. */
    pass: p.integer().default(1),
    removedInPass: p.bigint('number').defaultRaw('0'),
    removed: p.bigint('number').defaultRaw('0'),
    /** The payment subscription to cancel. */
    subscription: p.text().nullable(),
    finishedAt: p.datetime(3).nullable(),
  },
  uniques: [{ name: 'project_wipes_open', properties: ['projectId'], where: 'finished_at IS NULL' }],
  indexes: [{ name: 'project_wipes_age', properties: ['finishedAt'], where: 'finished_at IS NOT NULL' }],
});
export type ProjectWipe = InferEntity<typeof ProjectWipe>;

/** Marks a project as being reset and stops its campaigns. False when it is being reset or gone. */
export async function markForReset(tx: Database, projectId: string): Promise<boolean> {
  const open = { id: projectId, resetting: false, deletedAt: null };
  if ((await tx.em.nativeUpdate(Project, open, { resetting: true, updatedAt: new Date() })) === 0) return false;
  await stopCampaigns(tx, projectId);
  return true;
}

/** Things of a deleted project at other services, which are ended there. */
export interface LeftBehind {
  subscription: string | null;
  domains: { domain: string; providerId: string | null }[];
}

/** Takes a project away from everybody: keys, members and domains are gone with the commit. Null when it is being reset or gone. */
export async function markForDeletion(tx: Database, projectId: string): Promise<LeftBehind | null> {
  // The hashes of keys that nobody has, so that no look-up finds the project even where deleted_at is not asked for.
  const open = { id: projectId, resetting: false, deletedAt: null };
  const [deletedAt, publicKeyHash, secretKeyHash] = [new Date(), randomBytes(32), randomBytes(32)];
  const marked = { deletedAt, disabled: true, updatedAt: deletedAt, publicKeyHash, secretKeyHash };
  if ((await tx.em.nativeUpdate(Project, open, marked)) === 0) return null;
  const { subscription = null } = await tx.em.findOneOrFail(Project, projectId, { fields: ['subscription'] });
  await stopCampaigns(tx, projectId);
  await tx.em.nativeDelete(Membership, { projectId });
  const domains = await tx.rows<LeftBehind['domains'][number]>(
    sql`delete from domains where project_id = ${projectId} returning domain, provider_id as "providerId"`,
  );
  return { subscription, domains };
}

// Nothing more is claimed from these; what is under way finds no rows.
async function stopCampaigns(tx: Database, projectId: string): Promise<void> {
  const given = sql`
    stopped as (
      update campaigns set status = case status when 'SENDING' then 'CANCELLED' else 'DRAFT' end,
        cancelled_at = case status when 'SENDING' then now() end, scheduled_for = null, updated_at = now()
      where project_id = ${projectId} and status in ${raw(openStatuses.sql)} returning *)`;
  const cancelled = {
    projectId,
    name: 'campaign.cancelled',
    data: sql`jsonb_build_object('campaignId', id, 'campaignName', name, 'recipients', total_recipients, 'sent', sent_count,
      'skipped', skipped_count, 'failed', failed_count)`,
    from: sql`stopped`,
  };
  await tx.count(recordingEvents({ given, events: [cancelled] }));
}

/** A wipe that is not finished, or null. */
export function findWipe(db: Database, id: string): Promise<ProjectWipe | null> {
  return db.session().em.findOne(ProjectWipe, { id, finishedAt: null });
}

/** Ends a wipe: the project may be written to again, or its row is removed. False when that was done before. */
export async function finishWipe(tx: Database, { id, kind, projectId }: ProjectWipe): Promise<boolean> {
  const now = { updatedAt: new Date() };
  const open = { id, finishedAt: null };
  if ((await tx.em.nativeUpdate(ProjectWipe, open, { ...now, finishedAt: now.updatedAt })) === 0) return false;
  if (kind === 'RESET')
    await tx.em.nativeUpdate(Project, { id: projectId, resetting: true }, { ...now, resetting: false });
  else await tx.em.nativeDelete(Project, { id: projectId, deletedAt: { $ne: null } });
  return true;
}

/** Wipes that nobody has moved for a while. */
export function stalledWipes(db: Database, query: StalledQuery): Promise<{ id: string; at: string }[]> {
  return stalledRows(db, { table: 'project_wipes', open: 'finished_at is null' }, query);
}

/** Removes records of wipes that ended 30 days ago; answers how many. */
export function removeOldWipes(db: Database, limit: number): Promise<number> {
  return removePast(db, 'project_wipes', 'finished_at', limit, '30 days');
}

/** A wipe that was queued, and the ticket that starts it after the commit. */
export interface NewWipe {
  id: string;
  ticket: OutboxTicket;
}

/**
 * Marks a project as being reset and queues the deletion of everything in it (docs/contract/platform.md#2-5).
 * @throws 409 while it is being reset
 */
export function resetProject(db: Database, projectId: string): Promise<NewWipe> {
  return db.transaction(async (tx) => {
    if (!(await markForReset(tx, projectId))) throw conflict('This project is already being reset');
    await recordChange(tx, projectId, { action: 'project.reset', target: projectId });
    return queueWipe(tx, projectId, 'RESET', null);
  });
}

/**
 * Takes a project away: with the commit its keys, members and domains are gone, and everything else is removed in the
 * background. `leave` gets, in the same transaction, what the project leaves behind elsewhere.
 * @throws 409 while it is being reset
 */
export function deleteProject(
  db: Database,
  projectId: string,
  leave: (tx: Database, left: LeftBehind) => Promise<void>,
): Promise<NewWipe> {
  return db.transaction(async (tx) => {
    const left = await markForDeletion(tx, projectId);
    if (left === null) throw conflict('This project is already being reset or deleted');
    await leave(tx, left);
    await recordChange(tx, projectId, { action: 'project.deleted', target: projectId });
    return queueWipe(tx, projectId, 'DELETE', left.subscription);
  });
}

async function queueWipe(
  tx: Database,
  projectId: string,
  kind: ProjectWipe['kind'],
  subscription: string | null,
): Promise<NewWipe> {
  const id = newId();
  tx.em.create(ProjectWipe, { id, projectId, kind, subscription });
  return { id, ticket: await enqueue(tx, startOfWipe(id)) };
}

/** The command that starts the execution of a wipe. It names no project: those of the project's executions are ended. */
export function startOfWipe(id: string): StartCommand {
  return {
    type: 'start',
    workflow: 'wipeProject',
    id: workflowId.wipe(id),
    input: { wipeId: id },
    searchAttributes: { Kind: 'wipe' },
  };
}

/** Waits until a wipe is over, up to so many milliseconds; answers whether it is. */
export async function waitForWipe(db: Database, id: string, longestMs: number): Promise<boolean> {
  const deadline = performance.now() + longestMs;
  for (let wait = 50; ; wait = Math.min(wait * 2, 1_000)) {
    if ((await findWipe(db, id)) === null) return true;
    if (performance.now() + wait > deadline) return false;
    await pause(wait);
  }
}
