import { field } from '@fernpost/openapi/names';
import * as v from 'valibot';
import { reply, route } from '../../core/http/route.ts';
import { AppError } from '../../core/lib/errors.ts';
import { isUuid } from '../../core/lib/ids.ts';
import { changePassword } from './account-service.ts';
import { User } from './entity.ts';
import { Account, ChangePassword, MessageReply, SessionBody } from './schema.ts';
import { endAllSessions, endListedSession, openSessions } from './session-list.ts';
import { sessionHash, sessionTokens } from './sessions.ts';
import { newSession } from './sign-in.ts';

const mine = { access: 'cookie', tag: 'auth' } as const;

/** What somebody sees and changes of their own account. */
export const accountRoutes = [
  route.get('/users/@me/account', {
    ...mine,
    summary: 'Get your account',
    operationId: 'getAccount',
    reply: Account,
    async handle({ db, actor }) {
      const { id, email, type, emailVerified, createdAt } = await db.em.findOneOrFail(User, actor.userId);
      return { id, email, type, emailVerified, createdAt: createdAt.toISOString() };
    },
  }),
  route.post('/users/@me/password', {
    ...mine,
    refusals: [409, 422, 429],
    summary: 'Change your password',
    operationId: 'changePassword',
    description: 'Signs out everywhere else, and tells you by email.',
    body: ChangePassword,
    example: { currentPassword: 'correct horse battery', newPassword: 'a long walk by the sea' },
    reply: MessageReply,
    async handle(request) {
      const { app, db, actor, body, header } = request;
      const deps = { db, settings: app.config, language: header('accept-language') };
      const { sessionVersion, tickets } = await changePassword(deps, actor.userId, body);
      app.outbox.dispatchSoon(...tickets);
      const cookie = await newSession(request, { id: actor.userId, sessionVersion });
      return reply(200, said('Your password was changed'), { 'Set-Cookie': cookie });
    },
  }),
  route.get('/users/@me/sessions', {
    ...mine,
    summary: 'List where you are signed in',
    operationId: 'listSessions',
    description: 'The latest sign-in first, at most 100.',
    reply: v.object({ data: field('Sessions of the account.', v.array(SessionBody)) }),
    handle: async ({ db, actor, header }) => ({
      data: await openSessions(db, actor.userId, sessionHash(sessionTokens(header('cookie'))[0] ?? '')),
    }),
  }),
  route.delete('/users/@me/sessions/:sessionId', {
    ...mine,
    summary: 'Sign out one session',
    operationId: 'endSession',
    refusals: [404],
    status: 204,
    async handle({ db, actor, params }) {
      const id = params.sessionId;
      if (!isUuid(id) || !(await endListedSession(db, actor.userId, id)))
        throw new AppError(404, 'RESOURCE_NOT_FOUND', `You have no open session with id ${id}`, {
          details: { resource: 'session', id },
        });
    },
  }),
  route.delete('/users/@me/sessions', {
    ...mine,
    summary: 'Sign out everywhere else',
    operationId: 'endOtherSessions',
    description: 'Ends every session but the one that asks, which gets a new cookie.',
    reply: MessageReply,
    async handle(request) {
      const { db, actor } = request;
      const sessionVersion = await db.transaction((tx) => endAllSessions(tx, actor.userId));
      const cookie = await newSession(request, { id: actor.userId, sessionVersion });
      return reply(200, said('You are signed out everywhere else'), { 'Set-Cookie': cookie });
    },
  }),
];

const said = (message: string) => ({ success: true, data: { message } });
