import * as v from 'valibot';
import { route } from '../http/route.ts';
import { ApiKeyBody, CreateApiKey, NewApiKey, PatchApiKey, RotateApiKey } from './api-key-schema.ts';
import { createApiKey, deleteApiKey, listApiKeys, patchApiKey, rotateApiKey } from './api-key-service.ts';

// A key that leaked must not plant another one.
const change = { access: 'project', role: 'ADMIN', refusesKeys: true, tag: 'API keys' } as const;
const one = '/users/@me/projects/:id/api-keys/:keyId';

/** Keys with scopes (docs/contract/reach.md#3). */
export const apiKeyRoutes = [
  route.get('/users/@me/projects/:id/api-keys', {
    access: 'project',
    role: 'ADMIN',
    tag: 'API keys',
    summary: 'List the API keys with scopes',
    reply: v.array(ApiKeyBody),
    handle: ({ db, project }) => listApiKeys(db, project.id),
  }),
  route.post('/users/@me/projects/:id/api-keys', {
    ...change,
    refusals: [409],
    summary: 'Create an API key with scopes',
    description: 'Returns the key once. A project has at most 100.',
    status: 201,
    body: CreateApiKey,
    example: { name: 'Billing', scopes: ['emails:send'] },
    reply: NewApiKey,
    handle: ({ app, db, project, actor, body }) =>
      createApiKey(db, project.id, body, { userId: actor.kind === 'user' ? actor.userId : null, now: app.clock() }),
  }),
  route.patch(one, {
    ...change,
    summary: 'Update the name or the scopes of an API key',
    description: 'Every process applies the new scopes before this returns.',
    body: PatchApiKey,
    example: { name: 'Billing worker' },
    reply: ApiKeyBody,
    async handle({ app, db, project, params, body }) {
      const changed = await patchApiKey(db, project.id, params.keyId, body);
      await app.directory.forgetEverywhere(project.id);
      return changed;
    },
  }),
  route.post(`${one}/rotate`, {
    ...change,
    summary: 'Rotate an API key',
    description: 'Returns the new key once. The old one works for `overlapHours` more, 24 when absent.',
    body: RotateApiKey,
    example: { overlapHours: 24 },
    reply: NewApiKey,
    async handle({ app, db, project, params, body }) {
      const rotated = await rotateApiKey(db, project.id, params.keyId, { ...body, now: app.clock() });
      await app.directory.forgetEverywhere(project.id);
      return rotated;
    },
  }),
  route.delete(one, {
    ...change,
    summary: 'Delete an API key',
    description: 'Every process refuses the key before this returns.',
    status: 204,
    async handle({ app, db, project, params }) {
      await deleteApiKey(db, project.id, params.keyId);
      await app.directory.forgetEverywhere(project.id);
    },
  }),
];
