import { type Database, raw, sql, statement } from '../../core/database/sql.ts';
import { type StalledQuery, stalledBefore, stalledParams } from '../../core/outbox/recovery.ts';

/** What a wipe does: empty a project, or take it away. */
export type WipeKind = 'RESET' | 'DELETE';

/** Where a wipe stands: the place in the list of tables, and the last id that is gone there. */
export interface Wipe {
  id: string;
  projectId: string;
  kind: WipeKind;
  place: number;
  after: string | null;
  /** How often the list has been begun. */
  pass: number;
  removedInPass: number;
  removed: number;
  /** The payment subscription to cancel, or null. */
  subscription: string | null;
}

const columns = `id, project_id as "projectId", kind, place, after, pass, removed_in_pass::float8 as "removedInPass",
  removed::float8 as removed, subscription`;

// Nothing more is claimed from these; what is under way finds no rows.
const stopCampaigns = statement(
  'wipes.stop_campaigns',
  `update campaigns set status = case status when 'SENDING' then 'CANCELLED' else 'DRAFT' end,
     cancelled_at = case status when 'SENDING' then now() end, scheduled_for = null, updated_at = now()
   where project_id = $1 and status in ('SENDING', 'SCHEDULED')`,
);
const clearMark = statement(
  'wipes.clear_mark',
  'update projects set resetting = false, updated_at = now() where id = $1 and resetting',
);
const removeProject = statement(
  'wipes.remove_project',
  'delete from projects where id = $1 and deleted_at is not null',
);
const stalled = statement(
  'wipes.stalled',
  `select id, updated_at::text as at from project_wipes
   where finished_at is null and updated_at < ${stalledBefore} and (updated_at, id) > ($3::timestamptz, $4::uuid)
   order by updated_at, id limit $5`,
);

/** Marks a project as being reset and stops its campaigns. False when it is being reset or gone. */
export async function markForReset(db: Database, projectId: string): Promise<boolean> {
  if (
    (await db.count(sql`
      update projects set resetting = true, updated_at = now()
        where id = ${projectId} and not resetting and deleted_at is null`)) === 0
  )
    return false;
  await db.count(stopCampaigns, [projectId]);
  return true;
}

/** What a project leaves behind elsewhere. */
export interface LeftBehind {
  subscription: string | null;
  domains: { domain: string; providerId: string | null }[];
}

/** Takes a project away from everybody: keys, members and domains are gone with the commit. Null when it is being reset or gone. */
export async function markForDeletion(db: Database, projectId: string): Promise<LeftBehind | null> {
  // The hashes of keys that nobody has, so that no look-up finds the project even where deleted_at is not asked for.
  const marked = await db.row<{ subscription: string | null }>(sql`
      update projects set deleted_at = now(), disabled = true, updated_at = now(),
          public_key_hash = sha256(uuid_send(gen_random_uuid())), secret_key_hash = sha256(uuid_send(gen_random_uuid()))
        where id = ${projectId} and not resetting and deleted_at is null returning subscription`);
  if (marked === null) return null;
  await db.count(stopCampaigns, [projectId]);
  await db.count(sql`delete from memberships where project_id = ${projectId}`);
  return {
    ...marked,
    domains: await db.rows(
      sql`delete from domains where project_id = ${projectId} returning domain, provider_id as "providerId"`,
    ),
  };
}

/** Writes a wipe down. */
export async function insertWipe(
  db: Database,
  wipe: { id: string; projectId: string; kind: WipeKind; subscription: string | null },
): Promise<void> {
  await db.count(sql`
      insert into project_wipes (id, project_id, kind, subscription)
        values (${wipe.id}, ${wipe.projectId}, ${wipe.kind}, ${wipe.subscription})`);
}

/** A wipe that is not finished, or null. */
export function findWipe(db: Database, id: string): Promise<Wipe | null> {
  return db.row<Wipe>(sql`select ${raw(columns)} from project_wipes where id = ${id} and finished_at is null`);
}

/** Locks a wipe that still stands where `wipe` says; null when somebody else has moved it. */
export function lockWipeAt(db: Database, wipe: Wipe): Promise<Wipe | null> {
  return db.row<Wipe>(sql`
      select ${raw(columns)} from project_wipes
        where id = ${wipe.id} and finished_at is null and pass = ${wipe.pass} and place = ${wipe.place} and after is not distinct from ${wipe.after} for update`);
}

/** Moves a wipe on. `removed` counts what this step removed. */
export async function moveWipe(
  db: Database,
  id: string,
  to: Pick<Wipe, 'place' | 'after' | 'pass' | 'removedInPass'> & { removed: number },
): Promise<void> {
  await db.count(sql`
      update project_wipes set place = ${to.place}, after = ${to.after}, pass = ${to.pass}, removed_in_pass = ${to.removedInPass}, removed = removed + ${to.removed},
        updated_at = clock_timestamp() where id = ${id}`);
}

/** Ends a wipe: the project may be written to again, or its row is removed. False when that was done before. */
export async function finishWipe(db: Database, wipe: Wipe): Promise<boolean> {
  if (
    (await db.row(sql`
      update project_wipes set finished_at = now(), updated_at = now()
        where id = ${wipe.id} and finished_at is null returning project_id`)) === null
  )
    return false;
  await db.count(wipe.kind === 'RESET' ? clearMark : removeProject, [wipe.projectId]);
  return true;
}

/** Whether a wipe is over. */
export async function isWipeFinished(db: Database, id: string): Promise<boolean> {
  return (
    (
      await db.row<{ finished: boolean }>(
        sql`select finished_at is not null as finished from project_wipes where id = ${id}`,
      )
    )?.finished ?? true
  );
}

/** Wipes that nobody has moved for a while. */
export function stalledWipes(db: Database, query: StalledQuery): Promise<{ id: string; at: string }[]> {
  return db.rows(stalled, stalledParams(query));
}

/** Removes records of wipes that ended 30 days ago; answers how many. */
export function removeOldWipes(db: Database, limit: number): Promise<number> {
  return db.count(sql`
      delete from project_wipes where ctid = any(array(
        select ctid from project_wipes where finished_at < now() - interval '30 days' limit ${limit}))`);
}
