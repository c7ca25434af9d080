import type { App } from '../../core/http/context.ts';
import { type Reply, reply } from '../../core/http/route.ts';
import { sessionHeader, signSession } from './sessions.ts';

/** The answer of a sign-in: who it is, and the session cookie. */
export async function signedIn(
  app: Pick<App, 'config' | 'clock'>,
  user: { id: string; email: string; sessionVersion: number },
): Promise<Reply> {
  return reply(
    200,
    { success: true, data: { id: user.id, email: user.email } },
    { 'Set-Cookie': await newSession(app, user) },
  );
}

/** The `Set-Cookie` of a new session of this user. */
export async function newSession(
  { config, clock }: Pick<App, 'config' | 'clock'>,
  user: { id: string; sessionVersion: number },
): Promise<string> {
  const now = clock();
  const token = await signSession({ id: user.id, sv: user.sessionVersion }, config.JWT_SECRET, now);
  return sessionHeader(token, config, now);
}
