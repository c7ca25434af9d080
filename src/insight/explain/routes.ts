import { needScope } from '../../http/errors.ts';
import { inProject, route } from '../../http/route.ts';
import { ExplainRequest, Explanation } from './schema.ts';
import { explain, requestOf } from './service.ts';

/** Why somebody got something, or did not. */
export const explainRoutes = [
  route.post('/explain', {
    heavy: true,
    ...inProject('explain'),
    summary: 'Explain why a contact received something, or didn’t',
    operationId: 'explain',
    description:
      'Every decision along the way, in order, recorded or evaluated now from the values it names. The first `stop` is the reason. 60 a minute for each project. A key with scopes needs `contacts:read` as well.',
    tag: 'explain',
    body: ExplainRequest,
    example: { contact: 'ada@example.com', about: { topic: 'any' } },
    returns: 'The `verdict` with every decision that led to it, and a `permalink` that asks the question again.',
    reply: Explanation,
    handle({ app, db, project, actor, body }) {
      needScope(actor, 'contacts:read');
      return explain(db, project.id, body, app.config.CONTACT_HISTORY_DAYS);
    },
  }),
  route.get('/explain/:permalink', {
    pathTexts: { permalink: '`permalink` of an explanation.' },
    heavy: true,
    ...inProject('explain'),
    summary: 'Answer the question of a permalink again',
    operationId: 'getExplanation',
    description: 'With what is known today: the question names an instant, and no answer is stored.',
    tag: 'explain',
    returns: 'The `verdict` as of now, with every decision that leads to it.',
    reply: Explanation,
    handle({ app, db, project, actor, params }) {
      const request = requestOf(params.permalink);
      needScope(actor, 'contacts:read');
      return explain(db, project.id, request, app.config.CONTACT_HISTORY_DAYS);
    },
  }),
];
