import { type Database, raw, sql } from '../../core/database/sql.ts';

/** SQL: the running day of daily counters, in UTC. */
const today = raw(`(now() at time zone 'UTC')::date`);

/** What was accepted today. */
export async function acceptedToday(db: Database, projectId: string): Promise<number> {
  const row = await db.row<{ accepted: number }>(
    sql`select accepted from daily_usage where project_id = ${projectId} and day = ${today}`,
  );
  return row?.accepted ?? 0;
}

/**
 * Counts up to `count` emails of today, as many as the limit allows; without `partly` all or none. The counter's row stays
 * locked until the transaction ends, so that whoever comes at the same moment reads what this one leaves.
 */
export async function takeOfToday(
  db: Database,
  projectId: string,
  limit: number,
  count: number,
  partly: boolean,
): Promise<{ granted: number; usage: number }> {
  await db.count(sql`
    insert into daily_usage (project_id, day, accepted) values (${projectId}, ${today}, 0) on conflict do nothing`);
  const row = await db.row<{ granted: number; usage: number }>(sql`
    with counter as materialized (
      select day, accepted from daily_usage where project_id = ${projectId}::uuid and day = ${today} for no key update),
    granted as materialized (
      select day, accepted, case when accepted + ${count}::integer <= ${limit}::integer then ${count}::integer
        when ${partly}::boolean then greatest(0, ${limit}::integer - accepted) else 0 end as count
      from counter)
    update daily_usage d set accepted = d.accepted + g.count from granted g
      where d.project_id = ${projectId}::uuid and d.day = g.day
      returning g.count as granted, g.accepted as usage`);
  return row ?? { granted: 0, usage: limit };
}

/** Gives back what was counted by `takeOfToday` in the same transaction and is not accepted after all. */
export async function giveBackToday(db: Database, projectId: string, count: number): Promise<void> {
  await db.count(sql`
    update daily_usage set accepted = accepted - ${count}::integer where project_id = ${projectId} and day = ${today}`);
}

/** Removes up to `limit` counts of earlier days; returns how many. */
export function removeEarlierDays(db: Database, limit: number): Promise<number> {
  return db.count(sql`
    delete from daily_usage where ctid in (select ctid from daily_usage where day < ${today} - 1 limit ${limit})`);
}
