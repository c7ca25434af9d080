import * as v from 'valibot';
import type { App } from '../http/context.ts';
import { noSuchProject } from '../http/errors.ts';
import { route } from '../http/route.ts';
import { field } from '../lib/validation/fields.ts';
import { projectRecord, projectSummaries, projectSummary, projectsOfUser } from './queries.ts';
import {
  ChangeProject,
  CreateProject,
  HoldoutBody,
  OwnProject,
  ProjectRecord,
  ProjectSummary,
  RotatedProject,
  SetHoldout,
} from './schema.ts';
import { changeHoldout, changeSettings, foundProject, readHoldout, rotateKeys } from './service.ts';

const keysOf = ({ config }: App) => config.encryptionKeys;

const settings = { access: 'project', role: 'ADMIN', tag: 'projects' } as const;

/** Projects: what users have, and what may be changed of one. */
export const projectRoutes = [
  route.get('/users/@me/projects', {
    access: 'account',
    summary: 'List your projects, with their keys',
    description:
      'With a secret key: its own project only, as ADMIN. `secret` is null for a MEMBER of a project with `hideSecretKey`; keys that the service can no longer decrypt are null too.',
    tag: 'projects',
    returns: 'Your projects in the order in which you joined them, each with its keys and your `role`.',
    reply: v.array(OwnProject),
    async handle({ app, db, actor, project }) {
      if (actor.kind === 'user') return projectsOfUser(db, actor.userId, keysOf(app));
      const own = project && (await projectRecord(db, project.id, keysOf(app)));
      return own ? [{ ...own, role: 'ADMIN' }] : [];
    },
  }),
  route.post('/users/@me/projects', {
    access: 'cookie',
    refusesKeys: true,
    summary: 'Create a project as its owner',
    tag: 'projects',
    status: 201,
    body: CreateProject,
    example: { name: 'Acme' },
    returns: 'The new project, with its keys.',
    reply: ProjectRecord,
    handle: ({ app, db, actor, body }) =>
      foundProject(db, actor.userId, body.name, keysOf(app), app.config.PROJECTS_PER_OWNER),
  }),
  route.patch('/users/@me/projects/:id', {
    ...settings,
    summary: 'Update the name, tracking, language, time zone, retention, escaping or key visibility of a project',
    body: ChangeProject,
    example: { tracking: 'MARKETING_ONLY', language: 'en' },
    returns: 'The project with its changes.',
    reply: ProjectRecord,
    handle: ({ app, db, project, body }) => {
      const how = { encryptionKeys: keysOf(app), historyDays: app.config.CONTACT_HISTORY_DAYS };
      return changed(app, project.id, () => changeSettings(db, project.id, body, how));
    },
  }),
  route.post('/users/@me/projects/:id/regenerate-keys', {
    ...settings,
    summary: 'Replace both keys of a project',
    operationId: 'regenerateProjectKeys',
    description: 'The old keys stop working in every process before this returns.',
    returns: 'The project with its new keys in `public` and `secret`.',
    reply: RotatedProject,
    handle: ({ app, db, project }) => changed(app, project.id, () => rotateKeys(db, project.id, keysOf(app))),
  }),
  route.get('/projects', {
    access: 'account',
    summary: 'List the project of the key, or the projects of the session',
    operationId: 'listProjectSummaries',
    returns: 'One project for a key, a list of projects for a session, in `data`.',
    reply: v.object({
      success: field('Always true.', v.literal(true)),
      data: field(
        'The project of the key, or the projects of the session.',
        v.union([ProjectSummary, v.array(ProjectSummary)]),
      ),
    }),
    async handle({ db, actor, project }) {
      if (actor.kind === 'user') return { success: true, data: await projectSummaries(db, actor.userId) };
      return { success: true, data: project && (await projectSummary(db, project.id)) };
    },
  }),
  route.get('/projects/:id', {
    access: 'project',
    summary: 'Get a summary of a project',
    returns: 'The name, ID and suggested sender domain of the project.',
    reply: v.object({ success: field('Always true.', v.literal(true)), data: field('The project.', ProjectSummary) }),
    async handle({ db, project }) {
      const data = await projectSummary(db, project.id);
      if (data === null) throw noSuchProject(project.id);
      return { success: true, data };
    },
  }),
  route.get('/projects/:id/holdout', {
    access: 'project',
    summary: 'Get the control group of a project',
    operationId: 'getHoldout',
    tag: 'projects',
    returns: 'The share of contacts that get no marketing email, and until when.',
    reply: HoldoutBody,
    async handle({ db, project }) {
      const holdout = await readHoldout(db, project.id);
      if (holdout === null) throw noSuchProject(project.id);
      return holdout;
    },
  }),
  route.put('/projects/:id/holdout', {
    ...settings,
    summary: 'Hold a share of contacts out of all marketing email',
    operationId: 'setHoldout',
    description:
      'Campaigns, workflows, `POST /v1/send` and SMTP submission skip these contacts: their marketing email is kept as SUPPRESSED. Transactional email is sent. A hash decides who is in the group, so a larger `percent` keeps its contacts.',
    body: SetHoldout,
    example: { percent: 5, until: '2027-03-31T22:00:00Z' },
    returns: 'The control group, which holds from now on in every process.',
    reply: HoldoutBody,
    handle: ({ app, db, project, body }) => changed(app, project.id, () => changeHoldout(db, project.id, body)),
  }),
  route.delete('/projects/:id/holdout', {
    ...settings,
    summary: 'End the control group of a project',
    operationId: 'endHoldout',
    description: 'Its contacts get marketing email from now on. A later group is chosen anew.',
    status: 204,
    returns: 'There is no control group.',
    async handle({ app, db, project }) {
      await changed(app, project.id, () => changeHoldout(db, project.id, null));
    },
  }),
];

/** Makes a change of a project, and lets every process know of it. @throws 404 when the project is gone */
async function changed<Changed>(app: App, id: string, change: () => Promise<Changed | null>): Promise<Changed> {
  const result = await change();
  if (result === null) throw noSuchProject(id);
  await app.directory.forgetEverywhere(id);
  return result;
}
