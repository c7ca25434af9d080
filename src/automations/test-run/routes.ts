import { needScope } from '../../http/errors.ts';
import { inProject, route } from '../../http/route.ts';
import { TestRun, TestRunBody, testRun } from './service.ts';

/** Trying an automation without doing anything. */
export const automationTestRunRoutes = [
  route.post('/workflows/:id/test-run', {
    refusals: [404],
    ...inProject('workflows:write'),
    tag: 'workflows',
    summary: 'Try a workflow with a contact',
    operationId: 'testWorkflow',
    description:
      'Shows step by step what would happen to a contact: conditions are evaluated with its data, emails and requests are rendered, delays pass at once. Nothing is sent, called, changed or stored. Takes the graph as it is saved, or one that is not, in `graph`.',
    ids: { id: 'workflow' },
    body: TestRun,
    example: { contactId: '9b2f6c1e-3d4a-4f5b-8c6d-7e8f9a0b1c2d', data: { plan: 'pro' }, waits: 'TIMEOUT' },
    bodyLimit: 'document',
    returns: 'The steps that the contact would take, in order, with what each would do. Nothing is sent or stored.',
    reply: TestRunBody,
    handle({ app, db, project, actor, params, body }) {
      needScope(actor, 'contacts:read');
      const { DASHBOARD_URI: pagesUrl, API_URI: apiUrl, LINK_SECRET: secret } = app.config;
      return testRun({ db, project, links: { pagesUrl, apiUrl, secret }, now: app.clock() }, params.id, body);
    },
  }),
];
