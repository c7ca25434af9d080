import * as v from 'valibot';
import { allRules } from '../../audience/suppressions/queries.ts';
import { createRule, deleteRule, previewRules, putRule } from '../../audience/suppressions/rules.ts';
import {
  isRuleKey,
  ListSuppressed,
  PreviewRule,
  RuleBody,
  RulePreview,
  SuppressedEmail,
  SuppressedPage,
  WriteRule,
} from '../../audience/suppressions/schema.ts';
import type { App } from '../../core/http/context.ts';
import { reply, route } from '../../core/http/route.ts';
import { type AppError, badRequest, type FieldProblem } from '../../core/lib/errors.ts';
import { type Composer, createComposer } from '../engine/compose.ts';
import { getSuppressed, listSuppressed } from './mail.ts';

/** The rules that catch a project's mail, and the mail they have caught. */
export const suppressionRoutes = [
  route({
    method: 'GET',
    path: '/suppressions',
    access: 'dashboard',
    summary: 'List suppression rules',
    reply: v.array(RuleBody),
    handle: ({ db, project }) => allRules(db, project.id),
  }),
  route({
    method: 'POST',
    path: '/suppressions',
    access: 'dashboard',
    summary: 'Create a suppression rule',
    description: 'Mail to an address that an enabled rule matches is kept, but never handed to the mail provider.',
    status: 201,
    body: WriteRule,
    bodyError: refusedRule,
    reply: RuleBody,
    async handle({ app, db, project, body }) {
      const rule = await createRule(db, project.id, body);
      app.directory.forget(project.id);
      return rule;
    },
  }),
  route({
    method: 'PUT',
    path: '/suppressions/:id',
    access: 'dashboard',
    summary: 'Replace a suppression rule',
    ids: { id: 'suppression rule' },
    body: WriteRule,
    bodyError: refusedRule,
    reply: v.object({ success: v.literal(true) }),
    async handle({ app, db, project, params, body }) {
      const done = await putRule(db, project.id, params.id ?? '', body);
      app.directory.forget(project.id);
      return done;
    },
  }),
  route({
    method: 'DELETE',
    path: '/suppressions/:id',
    access: 'dashboard',
    summary: 'Delete a suppression rule',
    description: 'Mail that it has caught is not sent afterwards, and still says by which rule it was caught.',
    ids: { id: 'suppression rule' },
    status: 204,
    async handle({ app, db, project, params }) {
      await deleteRule(db, project.id, params.id ?? '');
      app.directory.forget(project.id);
      return reply(204);
    },
  }),
  route({
    method: 'POST',
    path: '/suppressions/preview',
    access: 'dashboard',
    summary: 'See which rule would catch mail to an address',
    body: PreviewRule,
    reply: RulePreview,
    handle: ({ app, db, project, body }) => previewRules(db, project.id, body.address, app.clock()),
  }),
  route({
    method: 'GET',
    path: '/suppressions/emails',
    access: 'dashboard',
    summary: 'List suppressed mail',
    query: ListSuppressed,
    reply: SuppressedPage,
    handle: ({ app, db, project, query }) => listSuppressed(db, composerOf(app), project.id, query),
  }),
  route({
    method: 'GET',
    path: '/suppressions/emails/:id',
    access: 'dashboard',
    summary: 'Get a suppressed mail',
    ids: { id: 'email' },
    reply: SuppressedEmail,
    handle: ({ app, db, project, params }) => getSuppressed(db, composerOf(app), project.id, params.id ?? ''),
  }),
];

// Keys that no rule has, and patterns that fit no address, are told as a 400 and not as a 422 (contract page 1, 6.1).
function refusedRule(problems: FieldProblem[], body: unknown): AppError | null {
  const given = (body as { pattern?: unknown }).pattern !== undefined;
  const refused = problems.find(({ field }) => !isRuleKey(field) || (field === 'pattern' && given));
  if (refused === undefined) return null;
  const { field, message } = refused;
  return badRequest(`"${field}" ${isRuleKey(field) ? message : 'is no part of a suppression rule'}`, { field });
}

const composers = new WeakMap<App, Composer>();

function composerOf(app: App): Composer {
  const composer = composers.get(app) ?? createComposer(app.config, app.log);
  composers.set(app, composer);
  return composer;
}
