import * as v from 'valibot';
import { removeLater } from '../../domains/queries.ts';
import { route } from '../../http/route.ts';
import { field } from '../../lib/validation/fields.ts';
import { deleteProject, resetProject, waitForWipe } from './queries.ts';

const Done = v.object({
  success: field('Always true.', v.literal(true)),
  message: field('What happened, for people.', v.string()),
});
const resetMayTakeMs = 25_000;

const wipe = { access: 'project', role: 'ADMIN', refusedWhenDisabled: true, tag: 'projects', reply: Done } as const;

/** Taking away a project, or everything in it. */
export const projectWipeRoutes = [
  route.delete('/users/@me/projects/:id', {
    ...wipe,
    refusesKeys: true,
    summary: 'Delete a project and everything in it',
    description:
      'Keys, members and domains are gone when this returns; contacts, mail and events are removed in the background.',
    returns: 'The project is deleted; what is left of its data is removed in the background.',
    async handle({ app, db, project }) {
      const { ticket } = await deleteProject(db, project.id, async (tx, { domains }) => {
        for (const { domain, providerId } of domains)
          if (providerId !== null) await removeLater(tx, providerId, domain);
      });
      app.outbox.dispatchSoon(ticket);
      await app.directory.forgetEverywhere(project.id);
      return { success: true, message: `The project ${project.name} was deleted` };
    },
  }),
  route.post('/users/@me/projects/:id/reset', {
    ...wipe,
    summary: 'Reset a project',
    description:
      'Deletes everything except keys, members, domains, settings, uploads and usage. Writes get 409 until it has finished; this call waits for up to 25 seconds.',
    returns: 'The project is reset, or still being reset after 25 seconds: `message` says which.',
    async handle({ app, db, project }) {
      const { id, ticket } = await resetProject(db, project.id);
      app.outbox.dispatchSoon(ticket);
      await app.directory.forgetEverywhere(project.id);
      const finished = await waitForWipe(db, id, resetMayTakeMs);
      if (finished) await app.directory.forgetEverywhere(project.id);
      return {
        success: true,
        message: finished
          ? 'The project was reset'
          : 'The project is being reset: it can be read, and written to afterwards',
      };
    },
  }),
];
