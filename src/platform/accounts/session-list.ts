import { isoInstant } from '../../core/database/columns.ts';
import { removeSome } from '../../core/database/remove-some.ts';
import { type Database, sql } from '../../core/database/sql.ts';
import { newId } from '../../core/lib/ids.ts';
import { UserSession } from './entity.ts';
import type { SessionBody } from './schema.ts';

/** Where a session was begun. */
export interface SessionOrigin {
  ip: string;
  /** The header `User-Agent`. */
  userAgent: string;
}

/**
 * Lists a session for its user; one of nobody is not listed (see `sign-up-service.ts`).
 * `hash` is of `sessionHash`, `expires` the end of the session.
 */
export async function listSession(
  db: Database,
  user: { id: string; sessionVersion: number },
  hash: Buffer,
  { ip, userAgent }: SessionOrigin,
  expires: Date,
): Promise<void> {
  await db.count(sql`
    insert into user_sessions (id, user_id, session_hash, session_version, user_agent, ip, expires_at)
      select ${newId()}, id, ${hash}, ${user.sessionVersion}, ${userAgent.slice(0, 500)}, ${ip}, ${expires.toISOString()}::timestamptz
        from users where id = ${user.id}`);
}

/** The open sessions of a user, the latest first, at most 100. `current` is the hash of the one that asks. */
export async function openSessions(db: Database, userId: string, current: Buffer): Promise<SessionBody[]> {
  const rows = await db.rows<SessionBody>(sql`
    select s.id, s.user_agent as "userAgent", s.ip, s.session_hash = ${current} as current,
        s.created_at::text as "createdAt", s.expires_at::text as "expiresAt"
      from user_sessions s join users u on u.id = s.user_id and u.session_version = s.session_version
      where s.user_id = ${userId} and s.expires_at > now() order by s.created_at desc, s.id desc limit 100`);
  return rows.map((row) => ({
    ...row,
    createdAt: isoInstant(row.createdAt),
    expiresAt: isoInstant(row.expiresAt),
  }));
}

/** Ends one session of a user before its time; false when they have no such session. */
export async function endListedSession(db: Database, userId: string, id: string): Promise<boolean> {
  const ended = await db.count(sql`
    with gone as (delete from user_sessions where id = ${id} and user_id = ${userId} returning session_hash, expires_at)
    insert into ended_sessions (session_hash, expires_at) select session_hash, expires_at from gone`);
  return ended > 0;
}

/** Ends every session of a user, also those that are not listed. Answers the version that new sessions need. */
export async function endAllSessions(tx: Database, userId: string): Promise<number> {
  const user = await tx.row<{ sessionVersion: number }>(sql`
    update users set session_version = session_version + 1, updated_at = now() where id = ${userId}
      returning session_version as "sessionVersion"`);
  if (user === null) throw new Error('The user of a session is gone');
  await tx.em.nativeDelete(UserSession, { userId });
  return user.sessionVersion;
}

/** Forgets sessions whose time is over; answers how many. */
export function removeOldSessions(db: Database, limit: number): Promise<number> {
  return removeSome(db, 'user_sessions', sql`expires_at < now()`, limit);
}
