import * as v from 'valibot';
import { route } from '../../http/route.ts';
import { type AppError, badRequest } from '../../lib/errors.ts';
import { field } from '../../lib/validation/fields.ts';
import type { FieldProblem } from '../../lib/validation/problems.ts';
import { allRules, createRule, deleteRule, previewRules, replaceRule } from './rules.ts';
import { isRuleKey, PreviewRule, RuleBody, RulePreview, WriteRule } from './schema.ts';

/** The rules that suppress mail of a project. */
export const suppressionRoutes = [
  route.get('/suppressions', {
    access: 'dashboard',
    summary: 'List suppression rules',
    operationId: 'listSuppressionRules',
    returns: 'All suppression rules of the project, oldest first.',
    reply: v.array(RuleBody),
    handle: ({ db, project }) => allRules(db, project.id),
  }),
  route.post('/suppressions', {
    access: 'dashboard',
    summary: 'Create a suppression rule',
    operationId: 'createSuppressionRule',
    description: 'Email to an address that an enabled rule matches is stored, but never sent.',
    status: 201,
    body: WriteRule,
    example: { name: 'Test accounts', kind: 'DOMAIN', pattern: 'test.example' },
    bodyError: refusedRule,
    returns: 'The new rule.',
    reply: RuleBody,
    async handle({ app, db, project, body }) {
      const rule = await createRule(db, project.id, body);
      app.directory.forget(project.id);
      return rule;
    },
  }),
  route.put('/suppressions/:id', {
    access: 'dashboard',
    summary: 'Replace a suppression rule',
    operationId: 'updateSuppressionRule',
    ids: { id: 'suppression rule' },
    body: WriteRule,
    example: { name: 'Test accounts', kind: 'DOMAIN', pattern: 'test.example', enabled: false },
    bodyError: refusedRule,
    returns: 'The rule is replaced; `success` is true.',
    reply: v.object({ success: field('Always true.', v.literal(true)) }),
    async handle({ app, db, project, params, body }) {
      await replaceRule(db, project.id, params.id, body);
      app.directory.forget(project.id);
      return { success: true };
    },
  }),
  route.delete('/suppressions/:id', {
    access: 'dashboard',
    summary: 'Delete a suppression rule',
    operationId: 'deleteSuppressionRule',
    description: 'Emails that it suppressed are not sent afterwards, and still name the rule.',
    ids: { id: 'suppression rule' },
    status: 204,
    returns: 'The rule is deleted.',
    async handle({ app, db, project, params }) {
      await deleteRule(db, project.id, params.id);
      app.directory.forget(project.id);
    },
  }),
  route.post('/suppressions/preview', {
    access: 'dashboard',
    summary: 'Preview which rule matches an address',
    operationId: 'previewSuppressionRules',
    body: PreviewRule,
    example: { address: 'ada@test.example' },
    returns: 'Whether mail to the address would be suppressed, and in `match` by which rule.',
    reply: RulePreview,
    handle: ({ app, db, project, body }) => previewRules(db, project.id, body.address, app.clock()),
  }),
];

// Keys that no rule has, and patterns that fit no address, are a 400 and not a 422 (docs/contract/core.md#6-1).
function refusedRule(problems: FieldProblem[], body: unknown): AppError | null {
  const given = (body as { pattern?: unknown }).pattern !== undefined;
  const refused = problems.find(({ field }) => !isRuleKey(field) || (field === 'pattern' && given));
  if (refused === undefined) return null;
  const { field, message } = refused;
  return badRequest(`"${field}" ${isRuleKey(field) ? message : 'is no part of a suppression rule'}`, { field });
}
