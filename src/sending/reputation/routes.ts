import * as v from 'valibot';
import { noSuchProject } from '../../core/http/errors.ts';
import { route } from '../../core/http/route.ts';
import { Security } from './schema.ts';
import { securityOf } from './service.ts';

/** How the mail of a project is received. */
export const securityRoutes = [
  route({
    method: 'GET',
    path: '/users/@me/projects/:id/security',
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
  route({
    method: 'GET',
    path: '/projects/:id/security',
    access: 'project',
    summary: 'Get the bounce and complaint rates of a project, in an envelope',
    operationId: 'getProjectReputation',
    reply: v.object({ success: v.literal(true), data: Security }),
    async handle({ app, db, project }) {
      const data = await securityOf(db, project.id, app.clock());
      if (data === null) throw noSuchProject(project.id);
      return { success: true, data };
    },
  }),
];
