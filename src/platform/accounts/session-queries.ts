import { removeSome } from '../../core/database/remove-some.ts';
import { type Database, sql } from '../../core/database/sql.ts';
import type { Role } from '../../core/lib/roles.ts';
import type { User } from './entity.ts';
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
