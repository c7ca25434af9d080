import * as v from 'valibot';
import { noSuchProject } from '../../http/errors.ts';
import { route } from '../../http/route.ts';
import { field } from '../../lib/validation/fields.ts';
import { SetupState, setupState } from './state.ts';

/** Routes of the set-up checklist. */
export const setupRoutes = [
  route.get('/projects/:id/setup-state', {
    access: 'project',
    summary: 'Get the set-up state of a project',
    reply: v.object({
      success: field('Always `true`. A failed request returns an `Error` instead.', v.literal(true)),
      data: field('What is set up.', SetupState),
    }),
    async handle({ app, db, project }) {
      const data = await setupState(db, project.id, app.config);
      if (data === null) throw noSuchProject(project.id);
      return { success: true, data };
    },
  }),
];
