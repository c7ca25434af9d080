import * as v from 'valibot';
import { noSuchProject } from '../../http/errors.ts';
import { route } from '../../http/route.ts';
import { field } from '../../lib/validation/fields.ts';
import { deliverabilityOf } from './deliverability.ts';
import { Deliverability, DeliverabilityQuery, Security } from './schema.ts';
import { securityOf } from './service.ts';

/** How the mail of a project is received. */
export const securityRoutes = [
  route.get('/deliverability', {
    heavy: true,
    access: 'dashboard',
    summary: 'Get bounces and complaints by day, recipient domain and mailbox provider',
    operationId: 'getDeliverability',
    description: 'With the limits that pause a project, and the project’s current values.',
    tag: 'projects',
    query: DeliverabilityQuery,
    reply: Deliverability,
    async handle({ app, db, project, query }) {
      const found = await deliverabilityOf(db, app.config, project.id, query.days, app.clock());
      if (found === null) throw noSuchProject(project.id);
      return found;
    },
  }),
  route.get('/users/@me/projects/:id/security', {
    heavy: true,
    access: 'project',
    summary: 'Get the bounce and complaint rates of a project',
    tag: 'projects',
    reply: Security,
    async handle({ app, db, project }) {
      const security = await securityOf(db, project.id, app.clock());
      if (security === null) throw noSuchProject(project.id);
      return security;
    },
  }),
  route.get('/projects/:id/security', {
    heavy: true,
    access: 'project',
    summary: 'Get the bounce and complaint rates of a project, in an envelope',
    operationId: 'getProjectReputation',
    reply: v.object({
      success: field('Always `true`. A failed request returns an `Error` instead.', v.literal(true)),
      data: field('How the project’s emails are received.', Security),
    }),
    async handle({ app, db, project }) {
      const data = await securityOf(db, project.id, app.clock());
      if (data === null) throw noSuchProject(project.id);
      return { success: true, data };
    },
  }),
];
