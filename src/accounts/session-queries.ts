import { type Sql, statement } from '../db/sql.ts';
import type { Role } from '../projects/schema.ts';

/** A signed-in user, with what they are in the project that the request is about. */
export interface SessionUser {
  id: string;
  email: string;
  type: 'PASSWORD' | 'GOOGLE_OAUTH' | 'GITHUB_OAUTH';
  emailVerified: boolean;
  sessionVersion: number;
  /** Null without a project, and for somebody who is no member of it. */
  role: Role | null;
}

// Two primary keys, read for each request of a session and never cached: a membership that is taken away, and a password
// that is reset, count from the next request on in every process.
const findUser = statement(
  'accounts.session_user',
  `select u.id, u.email, u.type, u.email_verified as "emailVerified", u.session_version as "sessionVersion", m.role
   from users u left join memberships m on m.user_id = u.id and m.project_id = $2
   where u.id = $1`,
);

/** The user of a session and their role in the project, when one is named. */
export function sessionUser(sql: Sql, userId: string, projectId: string | null): Promise<SessionUser | null> {
  return sql.row<SessionUser>(findUser, [userId, projectId]);
}
