import { isDeepStrictEqual } from 'node:util';
import { type Database, raw, sql } from '../../core/database/sql.ts';
import { newId } from '../../core/lib/ids.ts';

type Values = Readonly<Record<string, unknown>>;

/** A change, as a service names it. */
export interface Change {
  /** What was changed and how: `campaign.sent`. */
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
