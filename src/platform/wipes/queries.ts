import { type Sql, statement } from '../../core/database/sql.ts';
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

const markResetting = statement(
  'wipes.mark_resetting',
  `update projects set resetting = true, updated_at = now() where id = $1 and not resetting and deleted_at is null`,
);
// Nothing more is claimed from these; what is under way finds no rows.
const stopCampaigns = statement(
  'wipes.stop_campaigns',
  `update campaigns set status = case status when 'SENDING' then 'CANCELLED' else 'DRAFT' end,
     cancelled_at = case status when 'SENDING' then now() end, scheduled_for = null, updated_at = now()
   where project_id = $1 and status in ('SENDING', 'SCHEDULED')`,
);
// The hashes of keys that nobody has, so that no look-up finds the project even where deleted_at is not asked for.
const markDeleted = statement(
  'wipes.mark_deleted',
  `update projects set deleted_at = now(), disabled = true, updated_at = now(),
     public_key_hash = sha256(uuid_send(gen_random_uuid())), secret_key_hash = sha256(uuid_send(gen_random_uuid()))
   where id = $1 and not resetting and deleted_at is null returning subscription`,
);
const removeMembers = statement('wipes.remove_members', 'delete from memberships where project_id = $1');
const removeDomains = statement(
  'wipes.remove_domains',
  'delete from domains where project_id = $1 returning domain, provider_id as "providerId"',
);
const insert = statement(
  'wipes.insert',
  'insert into project_wipes (id, project_id, kind, subscription) values ($1, $2, $3, $4)',
);
const find = statement('wipes.find', `select ${columns} from project_wipes where id = $1 and finished_at is null`);
const lock = statement(
  'wipes.lock',
  `select ${columns} from project_wipes
   where id = $1 and finished_at is null and pass = $2 and place = $3 and after is not distinct from $4 for update`,
);
const move = statement(
  'wipes.move',
  `update project_wipes set place = $2, after = $3, pass = $4, removed_in_pass = $5, removed = removed + $6,
     updated_at = clock_timestamp() where id = $1`,
);
const finish = statement(
  'wipes.finish',
  'update project_wipes set finished_at = now(), updated_at = now() where id = $1 and finished_at is null returning project_id',
);
const clearMark = statement(
  'wipes.clear_mark',
  'update projects set resetting = false, updated_at = now() where id = $1 and resetting',
);
const removeProject = statement(
  'wipes.remove_project',
  'delete from projects where id = $1 and deleted_at is not null',
);
const isFinished = statement(
  'wipes.is_finished',
  'select finished_at is not null as finished from project_wipes where id = $1',
);
const stalled = statement(
  'wipes.stalled',
  `select id, updated_at::text as at from project_wipes
   where finished_at is null and updated_at < ${stalledBefore} and (updated_at, id) > ($3::timestamptz, $4::uuid)
   order by updated_at, id limit $5`,
);
const removeOld = statement(
  'wipes.remove_old',
  `delete from project_wipes where ctid = any(array(
     select ctid from project_wipes where finished_at < now() - interval '30 days' limit $1))`,
);

/** Marks a project as being reset and stops its campaigns. False when it is being reset or gone. */
export async function markForReset(sql: Sql, projectId: string): Promise<boolean> {
  if ((await sql.count(markResetting, [projectId])) === 0) return false;
  await sql.count(stopCampaigns, [projectId]);
  return true;
}

/** What a project leaves behind elsewhere. */
export interface LeftBehind {
  subscription: string | null;
  domains: { domain: string; providerId: string | null }[];
}

/** Takes a project away from everybody: keys, members and domains are gone with the commit. Null when it is being reset or gone. */
export async function markForDeletion(sql: Sql, projectId: string): Promise<LeftBehind | null> {
  const marked = await sql.row<{ subscription: string | null }>(markDeleted, [projectId]);
  if (marked === null) return null;
  await sql.count(stopCampaigns, [projectId]);
  await sql.count(removeMembers, [projectId]);
  return { ...marked, domains: await sql.rows(removeDomains, [projectId]) };
}

/** Writes a wipe down. */
export async function insertWipe(
  sql: Sql,
  wipe: { id: string; projectId: string; kind: WipeKind; subscription: string | null },
): Promise<void> {
  await sql.count(insert, [wipe.id, wipe.projectId, wipe.kind, wipe.subscription]);
}

/** A wipe that is not finished, or null. */
export function findWipe(sql: Sql, id: string): Promise<Wipe | null> {
  return sql.row<Wipe>(find, [id]);
}

/** Locks a wipe that still stands where `wipe` says; null when somebody else has moved it. */
export function lockWipeAt(sql: Sql, wipe: Wipe): Promise<Wipe | null> {
  return sql.row<Wipe>(lock, [wipe.id, wipe.pass, wipe.place, wipe.after]);
}

/** Moves a wipe on. `removed` counts what this step removed. */
export async function moveWipe(
  sql: Sql,
  id: string,
  to: Pick<Wipe, 'place' | 'after' | 'pass' | 'removedInPass'> & { removed: number },
): Promise<void> {
  await sql.count(move, [id, to.place, to.after, to.pass, to.removedInPass, to.removed]);
}

/** Ends a wipe: the project may be written to again, or its row is removed. False when that was done before. */
export async function finishWipe(sql: Sql, wipe: Wipe): Promise<boolean> {
  if ((await sql.row(finish, [wipe.id])) === null) return false;
  await sql.count(wipe.kind === 'RESET' ? clearMark : removeProject, [wipe.projectId]);
  return true;
}

/** Whether a wipe is over. */
export async function isWipeFinished(sql: Sql, id: string): Promise<boolean> {
  return (await sql.row<{ finished: boolean }>(isFinished, [id]))?.finished ?? true;
}

/** Wipes that nobody has moved for a while. */
export function stalledWipes(sql: Sql, query: StalledQuery): Promise<{ id: string; at: string }[]> {
  return sql.rows(stalled, stalledParams(query));
}

/** Removes records of wipes that ended 30 days ago; answers how many. */
export function removeOldWipes(sql: Sql, limit: number): Promise<number> {
  return sql.count(removeOld, [limit]);
}
