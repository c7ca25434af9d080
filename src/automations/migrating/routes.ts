import * as v from 'valibot';
import { inProject, reply, route } from '../../http/route.ts';
import { checkUnplanned } from '../../projects/api-key-service.ts';
import { dispatched } from '../list-service.ts';
import { MigratePlan, MigrationBody, MigrationPreview } from './rules.ts';
import { cancelMigration, getMigration, migrateContacts } from './service.ts';

const ids = { id: 'workflow' };
const migrationIds = { ...ids, migrationId: 'migration' };
const tag = 'workflows';

/** Migrating the contacts inside an automation to another version of its graph. */
export const automationMigrationRoutes = [
  route.post('/workflows/:id/migrate', {
    refusals: [409],
    ...inProject('workflows:write'),
    tag,
    summary: 'Migrate the contacts inside to the current graph',
    description:
      'A rule for each step: `finish`, `moveAtNextStep`, `moveNow` (to `toStepId`) or `exit`. With `dryRun` it returns how many contacts each rule matches; without, it returns 202 and a job that you can poll and cancel.',
    ids,
    body: MigratePlan,
    example: { dryRun: true, otherwise: { action: 'finish' } },
    bodyLimit: 'data',
    returns: {
      200: 'How many contacts each rule matches, for a dry run. Nothing changes.',
      202: 'The migration, which runs in the background; poll `GET /workflows/{id}/migrations/{migrationId}` for its `state`.',
    },
    reply: v.union([MigrationPreview, MigrationBody]),
    async handle({ app, db, project, actor, params, body }) {
      if (!body.dryRun) checkUnplanned(actor.kind === 'key' ? actor.scoped : null, Infinity);
      const asked = await migrateContacts(db, project.id, params.id, body);
      return reply(body.dryRun ? 200 : 202, dispatched(app, asked));
    },
  }),
  route.get('/workflows/:id/migrations/:migrationId', {
    ...inProject('workflows:read'),
    tag,
    summary: 'Get a migration',
    ids: migrationIds,
    returns: 'The migration with its `state` and `progress`.',
    reply: MigrationBody,
    handle: ({ db, project, params }) => getMigration(db, project.id, params.id, params.migrationId),
  }),
  route.delete('/workflows/:id/migrations/:migrationId', {
    ...inProject('workflows:write'),
    tag,
    summary: 'Cancel a migration',
    operationId: 'cancelWorkflowMigration',
    description: 'Contacts that it has migrated stay migrated.',
    ids: migrationIds,
    returns: 'The migration, which stops here; one that is over stays as it is.',
    reply: MigrationBody,
    handle: ({ db, project, params }) => cancelMigration(db, project.id, params.id, params.migrationId),
  }),
];
