import type { Role } from '../lib/access.ts';
import { newId } from '../lib/ids.ts';
import { isoInstant, removeSome } from '../store/columns.ts';
import { type Database, sql } from '../store/sql.ts';
import { type User, UserSession } from './entity.ts';
import type { SessionBody } from './schema.ts';
import { sessionSeconds } from './sessions.ts';

/** A signed-in user, with what they are in the project that the request is about. */
export interface SessionUser extends Pick<User, 'id' | 'email' | 'type' | 'emailVerified' | 'sessionVersion'> {
  /** Null without a project, and for somebody who is no member of it. */
  role: Role | null;
}

/** What the database knows of a session: whether somebody has signed out of it, and its user; null for that of nobody. */
export interface SessionState {
  ended: boolean;
  user: SessionUser | null;
}

/** Whether a session goes on, and its user with their role in the project, when one is named. */
export async function sessionState(
  db: Database,
  session: { id: string; hash: Buffer },
  projectId: string | null,
): Promise<SessionState> {
  // Three primary keys, read for each request of a session and never cached: a membership that is taken away, a password
  // that is reset, and a sign-out count from the next request on in every process.
  const row = await db.row<Nullable<SessionUser> & { ended: boolean }>(sql`
      select u.id, u.email, u.type, u.email_verified as "emailVerified", u.session_version as "sessionVersion", m.role,
          s.ended
        from (select exists (select from ended_sessions where session_hash = ${session.hash}) as ended) s
        left join users u on u.id = ${session.id} left join memberships m on m.user_id = u.id and m.project_id = ${projectId}`);
  if (row === null) return { ended: false, user: null };
  const { ended, ...user } = row;
  return { ended, user: user.id === null ? null : (user as SessionUser) };
}

type Nullable<T> = { [Name in keyof T]: T[Name] | null };

/** Ends a session before its time; it is kept for as long as a session lasts. `hash` is of `sessionHash`. */
export async function endSession(db: Database, hash: Buffer): Promise<void> {
  await db.count(sql`
      with listed as (delete from user_sessions where session_hash = ${hash})
      insert into ended_sessions (session_hash, expires_at)
        values (${hash}, now() + make_interval(secs => ${sessionSeconds})) on conflict do nothing`);
}

/** Forgets sessions whose time is over; answers how many. */
export function removeEndedSessions(db: Database, limit: number): Promise<number> {
  return removeSome(db, 'ended_sessions', sql`expires_at < now()`, limit);
}

/** Where a session was begun. */
interface SessionOrigin {
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
