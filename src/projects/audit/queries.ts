import * as v from 'valibot';
import { badRequest } from '../../lib/errors.ts';
import { CursorParameter, clampLimit, decodeCursor, pageOf } from '../../lib/pages.ts';
import { field, Instant, Integer, parameter, Uuid } from '../../lib/validation/fields.ts';
import { isoInstant } from '../../store/columns.ts';
import { type Database, raw, sql } from '../../store/sql.ts';
import { hashOf, redactedAction } from './record.ts';

const actorKinds = ['user', 'key', 'mcp', 'system'] as const;

/** `GET /projects/{id}/audit-log`. */
export const ListAudit = v.object({
  actor: parameter('ID of a user or of a key with scopes, or a kind of actor: `user`, `key`, `mcp`, `system`.'),
  action: parameter('An action such as `campaign.sent`, or its beginning up to a dot: `campaign`.'),
  target: parameter('ID of what was changed.'),
  limit: field('Maximum number of entries on a page.', v.optional(v.string())),
  cursor: CursorParameter,
  format: field('`csv` returns CSV instead of JSON.', v.optional(v.picklist(['json', 'csv']))),
});
export type ListAudit = v.InferOutput<typeof ListAudit>;

const Values = v.nullable(v.record(v.string(), v.unknown()));

/** Who made a change: `id` is null for the secret key of the project and for the service itself; `name` is the email address or the name of the key. */
export const Actor = v.object({
  kind: field(
    'Type of the actor: a member, an API key, a language model that uses a key, or the service itself.',
    v.picklist(actorKinds),
  ),
  id: field(
    'ID of the user or of the key with scopes; null for the secret key of the project and for the service.',
    v.nullable(v.string()),
  ),
  name: field('Email address of the user, or name of the key; null without one.', v.nullable(v.string())),
});

/** One change. */
const AuditEntryBody = v.object({
  id: field('ID of the entry.', Uuid),
  position: field('Position of the entry in the log of the project; positions have no gaps.', Integer),
  at: field('Time of the change.', Instant),
  actor: field('Who made the change.', Actor),
  action: field('What was done, such as `campaign.sent`.', v.string()),
  target: field('ID of what was changed; null when the action has no target.', v.nullable(v.string())),
  before: field('Changed values before the change, never secrets; null for none.', Values),
  after: field('Changed values after the change, never secrets; null for none.', Values),
  requestId: field('`X-Request-ID` of the request; null for changes without a request.', v.nullable(v.string())),
  ipHash: field(
    "Keyed hash of the caller's IP address, the same for requests from one address; null without one.",
    v.nullable(v.string()),
  ),
});
type AuditEntryBody = v.InferOutput<typeof AuditEntryBody>;

/** A page of the log, the latest first. */
export const AuditPage = v.object({
  data: field('Entries of this page, newest first.', v.array(AuditEntryBody)),
  cursor: field('Cursor of the next page; null on the last page.', v.nullable(v.string())),
});

/** `GET /projects/{id}/audit-log/verify`. */
export const AuditVerification = v.object({
  valid: field('Whether every entry is unchanged and none is missing.', v.boolean()),
  entries: field('Number of entries that were checked.', Integer),
  missing: field('Number of missing entries; entries older than 400 days do not count.', Integer),
  firstChanged: field(
    'The first entry that does not match the entries after it; null when all do.',
    v.nullable(
      v.object({
        id: field('ID of the entry.', v.string()),
        position: field('Position of the entry in the log.', Integer),
      }),
    ),
  ),
});
export type AuditVerification = v.InferOutput<typeof AuditVerification>;

const keptDays = 400;
const mostCsvRows = 10_000;

interface AuditRow extends Omit<AuditEntryBody, 'actor'> {
  actorKind: AuditEntryBody['actor']['kind'];
  actorId: string | null;
  actorName: string | null;
}

/** The name of an author, of whom columns hold the kind and the ID: an address or the name of a key, null for others. */
export const actorName = (kind: string, id: string, projectId: string) =>
  raw(`case when ${kind} = 'user' then (select u.email from users u where u.id::text = ${id})
    when ${kind} in ('key', 'mcp') then (select k.name from api_keys k where k.id::text = ${id} and k.project_id = ${projectId}) end`);

/** A page of a project's log, the latest first. @throws 400 for a cursor of another list */
export async function listAudit(db: Database, projectId: string, query: ListAudit) {
  const limit = clampLimit(query.limit, 50, 200);
  const before = query.cursor === undefined ? null : placeOf(query.cursor);
  const rows = await entries(db, projectId, query, before, limit + 1);
  const { page, cursor } = pageOf(rows, limit, (last) => [last.position]);
  return { data: page, cursor };
}

/** The log as CSV, the latest 10,000 entries that fit. */
export async function auditCsv(db: Database, projectId: string, query: ListAudit): Promise<string> {
  const rows = await entries(db, projectId, query, null, mostCsvRows);
  const lines = rows.map(({ actor, ...row }) =>
    [
      row.position,
      row.at,
      actor.kind,
      actor.id,
      actor.name,
      row.action,
      row.target,
      row.before && JSON.stringify(row.before),
      row.after && JSON.stringify(row.after),
      row.requestId,
      row.ipHash,
    ]
      .map(csvField)
      .join(','),
  );
  const names = 'position,at,actorKind,actorId,actorName,action,target,before,after,requestId,ipHash';
  return [names, ...lines, ''].join('\r\n');
}

async function entries(
  db: Database,
  projectId: string,
  query: ListAudit,
  before: number | null,
  limit: number,
): Promise<AuditEntryBody[]> {
  const [actor, action, target] = [query.actor ?? null, query.action ?? null, query.target ?? null];
  const isKind = actorKinds.some((kind) => kind === actor);
  const rows = await db.rows<AuditRow>(sql`
    select a.id, a.position::float8 as position, a.at::text as at, a.actor_kind as "actorKind", a.actor_id as "actorId",
        ${actorName('a.actor_kind', 'a.actor_id', 'a.project_id')} as "actorName",
        a.action, a.target, a.before, a.after, a.request_id as "requestId", encode(a.ip_hash, 'hex') as "ipHash"
      from audit_log a
      where a.project_id = ${projectId} and (${before}::bigint is null or a.position < ${before}::bigint)
        and (${actor}::text is null or case when ${isKind} then a.actor_kind else a.actor_id end = ${actor})
        and (${action}::text is null or a.action = ${action} or starts_with(a.action, ${action} || '.'))
        and (${target}::text is null or a.target = ${target})
      order by a.position desc limit ${limit}`);
  return rows.map(({ actorKind, actorId, actorName, at, ...row }) => ({
    ...row,
    at: isoInstant(at),
    actor: { kind: actorKind, id: actorId, name: actorName },
  }));
}

/**
 * Compares every entry with the hash that the next one has of it, the last with the one at the end of the log, and their number
 * with the positions that were given out. An entry that was redacted stands for the hash it had, if a later entry tells of it.
 */
export async function verifyAudit(db: Database, projectId: string): Promise<AuditVerification> {
  const found = await db.row<{ entries: number; due: number; firstChanged: AuditVerification['firstChanged'] }>(sql`
    with head as (select position, removed_through, hash from audit_heads where project_id = ${projectId}),
    noted as (
      select (e ->> 'position')::bigint as position, e ->> 'before' as before, e ->> 'after' as after
        from audit_log a, jsonb_array_elements(a.after -> 'entries') e
        where a.project_id = ${projectId} and a.action = ${redactedAction}),
    chain as (
      select a.id, a.position, lead(a.prev_hash) over (order by a.position) as next_hash,
        case when a.redacted_hash is null then ${hashOf('a')}
          when exists (select from noted t where t.position = a.position and t.before = encode(a.redacted_hash, 'hex')
            and t.after = encode(${hashOf('a')}, 'hex')) then a.redacted_hash end as hash
        from audit_log a where a.project_id = ${projectId})
    select (select count(*) from chain)::int as entries,
      coalesce((select position - removed_through from head), 0)::int as due,
      (select jsonb_build_object('id', id, 'position', position) from chain
        where hash is distinct from coalesce(next_hash, (select hash from head)) order by position limit 1) as "firstChanged"`);
  const { entries: count, due, firstChanged } = found ?? { entries: 0, due: 0, firstChanged: null };
  return { valid: firstChanged === null && count === due, entries: count, missing: due - count, firstChanged };
}

/** Removes entries older than 400 days, of any project, and notes at the end of each log how far. Answers how many. */
export function removeOldAudit(db: Database, limit: number): Promise<number> {
  return db.count(sql`
    with removed as (
      delete from audit_log where id in (
        select id from audit_log where at < now() - make_interval(days => ${keptDays}) order by at, position limit ${limit})
      returning project_id, position),
    noted as (
      update audit_heads h set removed_through = greatest(h.removed_through, r.position)
        from (select project_id, max(position) as position from removed group by project_id) r
        where h.project_id = r.project_id)
    select from removed`);
}

function placeOf(cursor: string): number {
  const [position] = decodeCursor(cursor, 1);
  if (typeof position !== 'number') throw badRequest('"cursor" belongs to another list', { field: 'cursor' });
  return position;
}

// A spreadsheet takes what begins like a formula for one.
function csvField(value: string | number | null): string {
  const text = String(value ?? '');
  const inert = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}
