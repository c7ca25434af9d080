import { type Sql, statement } from '../../core/database/sql.ts';
import { type StalledQuery, stalledBefore, stalledParams } from '../../core/outbox/recovery.ts';

/** A mail of the service that is on its way. */
export interface PendingMail {
  id: string;
  kind: string;
  to: string;
  contentSealed: string;
  /** Hand-overs that were begun. */
  attempts: number;
  /** What the last one was refused for; null when its outcome is not known, or there was none. */
  error: string | null;
  /** Milliseconds since the last hand-over was begun, and since the mail was queued. */
  sinceMs: number;
  ageMs: number;
}

const insert = statement(
  'system_mails.insert',
  `insert into system_mails (id, kind, to_address, dedupe_key, content_sealed)
   select id, kind, to_address, dedupe_key, content_sealed
   from jsonb_to_recordset($1::jsonb) as r (id uuid, kind text, to_address text, dedupe_key text, content_sealed text)
   on conflict (dedupe_key) do nothing returning id`,
);
const pending = statement(
  'system_mails.pending',
  `select id, kind, to_address as "to", content_sealed as "contentSealed", attempts, error,
     (1000 * extract(epoch from clock_timestamp() - updated_at))::float8 as "sinceMs",
     (1000 * extract(epoch from clock_timestamp() - created_at))::float8 as "ageMs"
   from system_mails where id = $1 and status = 'PENDING'`,
);
const begin = statement(
  'system_mails.begin',
  `update system_mails set attempts = attempts + 1, error = null, updated_at = clock_timestamp()
   where id = $1 and status = 'PENDING' and attempts = $2`,
);
const refused = statement(
  'system_mails.refused',
  `update system_mails set error = $2 where id = $1 and status = 'PENDING'`,
);
// The content goes with its secrets; that the mail was sent stays.
const settle = statement(
  'system_mails.settle',
  `update system_mails set status = $2, message_id = $3, sent_at = $4::timestamptz, error = $5, content_sealed = null,
     updated_at = clock_timestamp()
   where id = $1 and status = 'PENDING'`,
);
const stalled = statement(
  'system_mails.stalled',
  `select id, updated_at::text as at from system_mails
   where status = 'PENDING' and updated_at < ${stalledBefore} and (updated_at, id) > ($3::timestamptz, $4::uuid)
   order by updated_at, id limit $5`,
);
const removeOld = statement(
  'system_mails.remove_old',
  `delete from system_mails where ctid = any(array(
     select ctid from system_mails where created_at < now() - interval '60 days' and status <> 'PENDING' limit $1))`,
);
const members = statement(
  'system_mails.members',
  `select u.email, p.name as project, p.language from projects p
   join memberships m on m.project_id = p.id join users u on u.id = m.user_id
   where p.id = $1 order by m.created_at, u.id`,
);

/** Adds mails; those whose key is known are left out. Answers the ids that were added. */
export async function insertMails(
  sql: Sql,
  rows: readonly {
    id: string;
    kind: string;
    to_address: string;
    dedupe_key: string | null;
    content_sealed: string;
  }[],
): Promise<string[]> {
  return (await sql.rows<{ id: string }>(insert, [JSON.stringify(rows)])).map(({ id }) => id);
}

/** The mail, unless it was sent or given up. */
export function pendingMail(sql: Sql, id: string): Promise<PendingMail | null> {
  return sql.row<PendingMail>(pending, [id]);
}

/** Notes that a hand-over begins; false when another process was quicker. */
export async function beginHandOver(sql: Sql, id: string, attemptsBefore: number): Promise<boolean> {
  return (await sql.count(begin, [id, attemptsBefore])) > 0;
}

/** Notes that the provider did not take the mail, and why. */
export async function noteRefusal(sql: Sql, id: string, reason: string): Promise<void> {
  await sql.count(refused, [id, reason.slice(0, 500)]);
}

/** Notes that the provider has the mail. `at` is an ISO instant. */
export async function noteSent(sql: Sql, id: string, messageId: string, at: string): Promise<void> {
  await sql.count(settle, [id, 'SENT', messageId, at, null]);
}

/** Gives the mail up. */
export async function noteFailed(sql: Sql, id: string, reason: string): Promise<void> {
  await sql.count(settle, [id, 'FAILED', null, null, reason.slice(0, 500)]);
}

/** Mails that nobody has tried for a while. */
export function stalledMails(sql: Sql, query: StalledQuery): Promise<{ id: string; at: string }[]> {
  return sql.rows(stalled, stalledParams(query));
}

/** Removes mails of more than 60 days ago; answers how many. */
export function removeOldMails(sql: Sql, limit: number): Promise<number> {
  return sql.count(removeOld, [limit]);
}

/** The addresses of a project's members, with the project's name and language. */
export function membersToTell(
  sql: Sql,
  projectId: string,
): Promise<{ email: string; project: string; language: string }[]> {
  return sql.rows(members, [projectId]);
}
