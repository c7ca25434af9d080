import * as v from 'valibot';
import type { App } from '../http/context.ts';
import { needScope } from '../http/errors.ts';
import { inProject, route, tagged } from '../http/route.ts';
import { bareBadRequest } from '../lib/errors.ts';
import { field, Integer } from '../lib/validation/fields.ts';
import { iconsUrlOf } from './brand/service.ts';
import { previewTemplate } from './preview-service.ts';
import {
  BulkUpdateTemplates,
  CreateTemplate,
  ListTemplates,
  PatchTemplate,
  PreviewBody,
  PreviewTemplate,
  TemplateBody,
  TemplatePage,
  TemplateUsage,
} from './schema.ts';
import {
  bulkUpdateTemplates,
  createTemplate,
  deleteTemplate,
  duplicateTemplate,
  getTemplate,
  listTemplates,
  patchTemplate,
  restoreTemplate,
  templateUsage,
  templateVersion,
  templateVersions,
} from './service.ts';
import { restoreAbout, VersionList, VersionWithContent, versionsAbout } from './versions.ts';

const id = { id: 'template' };
const depsOf = ({ config, directory }: App) => ({
  senderDomains: directory.senderDomains,
  iconsUrl: iconsUrlOf(config),
});

/** The templates of a project. */
export const templateRoutes = [
  route.get('/templates', {
    ...inProject('templates'),
    summary: 'List templates',
    query: ListTemplates,
    returns: 'The page of templates, newest first unless `sort` or `dir` says otherwise.',
    reply: TemplatePage,
    handle: ({ db, project, query }) => listTemplates(db, project.id, query),
  }),
  route.post('/templates', {
    ...inProject('templates'),
    summary: 'Create a template',
    status: 201,
    body: CreateTemplate,
    example: {
      name: 'Receipt',
      subject: 'Your receipt',
      body: '<p>Thank you, {{ firstName }}.</p>',
      from: 'hello@acme.com',
      type: 'TRANSACTIONAL',
    },
    bodyLimit: 'document',
    bodyError(_, body) {
      const given = body as Record<string, unknown>;
      const needed = given.document ? ['name', 'subject', 'from'] : ['name', 'subject', 'body', 'from'];
      const missing = needed.find((field) => [undefined, null, ''].includes(given[field] as null));
      return missing === undefined ? null : bareBadRequest(`"${missing}" is required`);
    },
    returns: 'The new template.',
    reply: TemplateBody,
    handle: ({ app, db, project, body }) => createTemplate(db, depsOf(app), project.id, body),
  }),
  route.post('/templates/bulk-update', {
    refusals: [404, 409],
    ...inProject('templates'),
    summary: 'Delete several templates',
    operationId: 'deleteTemplates',
    body: BulkUpdateTemplates,
    example: { ids: ['9b2f6c1e-3d4a-4f5b-8c6d-7e8f9a0b1c2d'], delete: true },
    bodyLimit: 'data',
    returns: 'The number of templates `deleted`; without `delete`, nothing changes and `updated` is 0.',
    reply: v.union([
      v.strictObject({ deleted: field('Number of templates deleted, for a request with `delete`.', Integer) }),
      v.strictObject({
        updated: field('Always 0. No template was changed, because the request did not set `delete`.', Integer),
      }),
    ]),
    handle: ({ db, project, body }) => bulkUpdateTemplates(db, project.id, body),
  }),
  route.get('/templates/:id', {
    ...inProject('templates'),
    summary: 'Get a template',
    ids: id,
    returns: 'The template with its content.',
    reply: TemplateBody,
    guarded: true,
    handle: async ({ db, project, params }) => tagged(await getTemplate(db, project.id, params.id)),
  }),
  route.patch('/templates/:id', {
    ...inProject('templates'),
    summary: 'Update a template',
    ids: id,
    body: PatchTemplate,
    example: { subject: 'Your receipt from Acme' },
    bodyLimit: 'document',
    returns: 'The template with its changes.',
    reply: TemplateBody,
    guarded: true,
    handle: async ({ app, db, project, params, body, header }) =>
      tagged(await patchTemplate(db, depsOf(app), project.id, params.id, body, header('if-match'))),
  }),
  route.delete('/templates/:id', {
    refusals: [409],
    ...inProject('templates'),
    summary: 'Delete a template',
    ids: id,
    status: 204,
    returns: 'The template is deleted.',
    handle: ({ db, project, params }) => deleteTemplate(db, project.id, params.id),
  }),
  route.post('/templates/:id/duplicate', {
    ...inProject('templates'),
    summary: 'Duplicate a template',
    ids: id,
    status: 201,
    returns: 'The new template, a copy of this one.',
    reply: TemplateBody,
    handle: ({ db, project, params }) => duplicateTemplate(db, project.id, params.id),
  }),
  route.get('/templates/:id/usage', {
    ...inProject('templates'),
    summary: 'Get what uses a template',
    ids: id,
    returns: 'The workflow steps that send the template, and the number of emails created from it.',
    reply: TemplateUsage,
    handle: ({ db, project, params }) => templateUsage(db, project.id, params.id),
  }),
  route.get('/templates/:id/versions', {
    ...inProject('templates'),
    summary: 'List the versions of a template',
    description: versionsAbout,
    ids: id,
    returns: 'The versions of the template, newest first; up to 100.',
    reply: VersionList,
    handle: ({ db, project, params }) => templateVersions(db, project.id, params.id),
  }),
  route.get('/templates/:id/versions/:version', {
    pathTexts: { version: 'Number of the version.' },
    ...inProject('templates'),
    summary: 'Get a version of a template',
    ids: id,
    returns: 'The version with its content.',
    reply: VersionWithContent,
    handle: ({ app, db, project, params }) =>
      templateVersion(db, iconsUrlOf(app.config), project.id, params.id, params.version),
  }),
  route.post('/templates/:id/versions/:version/restore', {
    pathTexts: { version: 'Number of the version.' },
    ...inProject('templates'),
    summary: 'Restore a version of a template',
    description: restoreAbout,
    ids: id,
    returns: 'The template with the restored content.',
    reply: TemplateBody,
    guarded: true,
    handle: async ({ app, db, project, params, header }) =>
      tagged(await restoreTemplate(db, depsOf(app), project.id, params, header('if-match'))),
  }),
  route.post('/templates/preview', {
    refusals: [404],
    ...inProject('templates'),
    summary: 'Preview content as a recipient would see it',
    description:
      'Renders content without saving it: for a contact, with the values of `data` as `POST /v1/send` takes them, or with both. With neither, placeholders stay as they are. Sends and stores nothing.',
    body: PreviewTemplate,
    example: { subject: 'Hello {{ firstName }}', body: '<p>Hello {{ firstName }}.</p>', data: { firstName: 'Ada' } },
    bodyLimit: 'document',
    returns: 'The subject, HTML and text as the recipient would get them.',
    reply: PreviewBody,
    handle({ app, db, project, actor, body }) {
      if (body.contactId) needScope(actor, 'contacts:read');
      return previewTemplate(db, app.config, project, body);
    },
  }),
];
