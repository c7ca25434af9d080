import { isDeepStrictEqual } from 'node:util';
import { newId } from '../../lib/ids.ts';
import { type Database, type Query, raw, sql } from '../../store/sql.ts';

/** The action of the entry that tells which entries were redacted. */
export const redactedAction = 'audit_log.redacted';

/** Which entries lose their details, and why. */
interface Redaction {
  /** Of the erasure, which the log names. */
  by: string;
  /** Replaces a target that is an address. */
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
  const noted = entries.map(({ position, ...hashes }) => ({ position: Number(position), ...hashes }));
  await recordChange(tx, projectId, { action: redactedAction, target: by, after: { entries: noted } });
  return entries.length;
}

type Values = Readonly<Record<string, unknown>>;

/** A change, as a service names it. */
interface Change {
  /** The kind of thing and the change: `campaign.sent`. */
  action: string;
  /** The ID of what was changed. */
  target?: string;
  before?: Values;
  after?: Values;
}

/** The hash of a row of `audit_log`: all that it says, its place and the hash of the row before it. */
export const hashOf = (row: string) =>
  raw(`sha256(convert_to(jsonb_build_array(${row}.id, ${row}.project_id, ${row}.position,
    (extract(epoch from ${row}.at) * 1000)::bigint, ${row}.actor_kind, ${row}.actor_id, ${row}.action, ${row}.target,
    ${row}.before, ${row}.after, ${row}.request_id, encode(${row}.ip_hash, 'hex'), encode(${row}.prev_hash, 'hex'))::text, 'utf8'))`);

/**
 * Writes a change into the log of its project, in the transaction that makes it, by the author of the session. Call it last: it
 * holds the end of the log until the commit. Of `before` and `after` only what differs is kept, and nothing is
 * written where both are given and do not differ. Secrets are left out by the names of their fields.
 */
export async function recordChange(tx: Database, projectId: string, change: Change): Promise<void> {
  if (!tx.isTransaction) throw new Error('A change is recorded in the transaction that makes it');
  const { before, after } = differing(change.before, change.after);
  if (before !== null && after !== null && Object.keys({ ...before, ...after }).length === 0) return;
  const { author } = tx;
  const head = await tx.row<{ position: string; hash: Buffer }>(sql`
    insert into audit_heads (project_id, position, hash) values (${projectId}, 0, '')
      on conflict (project_id) do update set position = audit_heads.position returning position, hash`);
  if (head === null) throw new Error('The log of the project has no end');
  await tx.count(sql`
    with added as (
      insert into audit_log (id, project_id, position, at, actor_kind, actor_id, action, target, before, after, request_id, ip_hash, prev_hash)
      values (${newId()}, ${projectId}, ${head.position}::bigint + 1, clock_timestamp(), ${author?.kind ?? 'system'}, ${author?.id ?? null},
        ${change.action}, ${change.target ?? null}, ${before && JSON.stringify(before)}::jsonb, ${after && JSON.stringify(after)}::jsonb,
        ${author?.requestId ?? null}, ${author?.ipHash() ?? null}::bytea, ${head.hash})
      returning *)
    update audit_heads h set position = a.position, hash = ${hashOf('a')} from added a where h.project_id = a.project_id`);
}

const secretName = /secret|password|token|sealed|hash|^key$|^public$/i;

function differing(before: Values | undefined, after: Values | undefined) {
  const kept = (values: Values | undefined, other: Values | undefined) =>
    values === undefined
      ? null
      : Object.fromEntries(
          Object.entries(values).filter(
            ([name, value]) =>
              value !== undefined &&
              name !== 'updatedAt' &&
              !(secretName.test(name) && typeof value === 'string') &&
              !(other !== undefined && isDeepStrictEqual(value, other[name])),
          ),
        );
  return { before: kept(before, after), after: kept(after, before) };
}
