import { type Database, type Query, sql } from '../../core/database/sql.ts';
import { hashOf, recordChange } from './record.ts';

/** The action of the entry that tells which entries were redacted. */
export const redactedAction = 'audit_log.redacted';

/** Which entries lose their details, and why. */
export interface Redaction {
  /** Of the erasure, which the log names. */
  by: string;
  /** What takes the place of a target that fits as text. */
  target: string;
  /** The condition, on the columns of `audit_log`. */
  which: Query;
}

/**
 * Takes the values out of up to `limit` entries of a log, in the caller's transaction, and records it: the log goes on to be
 * verifiable. An entry keeps the hash it had, by which the next one is chained to it, and the new entry names the hashes of each before
 * and after, so that nobody can change one without an entry that says so. Answers how many were redacted. Call it last, like `recordChange`.
 */
export async function redactEntries(
  tx: Database,
  projectId: string,
  { by, target, which }: Redaction,
  limit: number,
): Promise<number> {
  // Whoever appends waits here, and verifies the log as it is then.
  await tx.row(sql`select from audit_heads where project_id = ${projectId} for update`);
  const entries = await tx.rows<{ position: string; before: string; after: string }>(sql`
    with found as (
      select id, coalesce(redacted_hash, ${hashOf('audit_log')}) as hash from audit_log
      where project_id = ${projectId} and action <> ${redactedAction}
        and (before is not null and before <> '{}' or after is not null and after <> '{}' or target like '%@%') and ${which}
      order by position limit ${limit}),
    redacted as (
      update audit_log a set redacted_hash = f.hash, before = case when a.before is not null then '{}'::jsonb end,
        after = case when a.after is not null then '{}'::jsonb end,
        target = case when a.target like '%@%' then ${target} else a.target end
      from found f where a.id = f.id returning a.*)
    select r.position, encode(r.redacted_hash, 'hex') as before, encode(${hashOf('r')}, 'hex') as after
    from redacted r order by r.position`);
  if (entries.length === 0) return 0;
  const told = entries.map(({ position, ...hashes }) => ({ position: Number(position), ...hashes }));
  await recordChange(tx, projectId, { action: redactedAction, target: by, after: { entries: told } });
  return entries.length;
}
