import type { Database } from '../../core/database/sql.ts';
import type { App } from '../../core/http/context.ts';
import { type Reply, reply } from '../../core/http/route.ts';
import { listSession } from './session-list.ts';
import { sessionHash, sessionHeader, sessionSeconds, signSession } from './sessions.ts';

/** What a request tells of where somebody signs in. */
interface SignInRequest {
  app: Pick<App, 'config' | 'clock'>;
  db: Database;
  ip: string;
  header(name: string): string;
}

/** The answer of a sign-in: who it is, and the session cookie. */
export async function signedIn(
  request: SignInRequest,
  user: { id: string; email: string; sessionVersion: number },
): Promise<Reply> {
  return reply(
    200,
    { success: true, data: { id: user.id, email: user.email } },
    { 'Set-Cookie': await newSession(request, user) },
  );
}

/** The `Set-Cookie` of a new session of this user. */
export async function newSession(
  { app, db, ip, header }: SignInRequest,
  user: { id: string; sessionVersion: number },
): Promise<string> {
  const now = app.clock();
  const token = await signSession({ id: user.id, sv: user.sessionVersion }, app.config.JWT_SECRET, now);
  const expires = new Date(now.getTime() + sessionSeconds * 1000);
  await listSession(db, user, sessionHash(token), { ip, userAgent: header('user-agent') }, expires);
  return sessionHeader(token, app.config, now);
}
