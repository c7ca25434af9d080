import * as v from 'valibot';
import { route } from '../http/route.ts';
import { AppError } from '../lib/errors.ts';
import { field, sentenceOf } from '../lib/validation/fields.ts';
import type { FieldProblem } from '../lib/validation/problems.ts';
import { ApiKeyBody, CreateApiKey, NewApiKey, PatchApiKey, RotateApiKey } from './api-key-schema.ts';
import { createApiKey, deleteApiKey, listApiKeys, patchApiKey, rotateApiKey } from './api-key-service.ts';
import {
  AddMember,
  addMember,
  ChangeMember,
  changeMember,
  ListedMember,
  listMembers,
  Member,
  removeMember,
} from './member-service.ts';

const changes = { access: 'project', role: 'ADMIN', refusesKeys: true, tag: 'members' } as const;

/** The team of a project. */
export const memberRoutes = [
  route.get('/projects/:id/members', {
    access: 'project',
    summary: 'List the members of a project',
    tag: 'members',
    returns: 'All members of the project, in the order in which they joined.',
    reply: v.object({
      success: field('Always true.', v.literal(true)),
      data: field('Members of the project.', v.array(ListedMember)),
    }),
    handle: async ({ db, project }) => ({ success: true, data: await listMembers(db, project.id) }),
  }),
  route.post('/projects/:id/members', {
    ...changes,
    refusals: [409],
    summary: 'Add a member by the address of their account',
    operationId: 'addProjectMember',
    body: AddMember,
    example: { email: 'alan@acme.com', role: 'MEMBER' },
    bodyError: firstProblem,
    returns: 'The new member.',
    reply: v.object({
      success: field('Always true.', v.literal(true)),
      data: field('The member who was added.', Member),
    }),
    handle: async ({ db, project, body }) => ({ success: true, data: await addMember(db, project.id, body) }),
  }),
  route.patch('/projects/:id/members/:userId', {
    ...changes,
    summary: 'Change the role of a member',
    body: ChangeMember,
    example: { role: 'ADMIN' },
    bodyError: firstProblem,
    returns: 'The member with the new role.',
    reply: v.object({
      success: field('Always true.', v.literal(true)),
      data: field('The member with the new role.', Member),
    }),
    handle: async ({ db, project, params, body }) => ({
      success: true,
      data: await changeMember(db, project.id, params.userId, body),
    }),
  }),
  route.delete('/projects/:id/members/:userId', {
    ...changes,
    summary: 'Remove a member',
    operationId: 'removeProjectMember',
    returns: 'The member is removed; `data.message` says so.',
    reply: v.object({
      success: field('Always true.', v.literal(true)),
      data: field('The result.', v.object({ message: field('What happened, for people.', v.string()) })),
    }),
    async handle({ db, project, params, actor }) {
      // Keys are refused before.
      const caller = actor.kind === 'user' ? actor.userId : '';
      await removeMember(db, project.id, params.userId, caller);
      return { success: true, data: { message: 'The member was removed' } };
    },
  }),
];

// docs/contract/platform.md#1-4: here a body that does not fit is a 400 with its first problem.
function firstProblem([first]: FieldProblem[]): AppError {
  return new AppError(400, 'BAD_REQUEST', first ? sentenceOf(first) : 'The request body is invalid');
}

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
    returns: 'All API keys with scopes, oldest first, without the keys themselves.',
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
    returns: 'The new API key. The `key` itself is shown only here.',
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
    returns: 'The API key with its changes.',
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
    returns: 'The API key with its new `key`, which is shown only here.',
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
    returns: 'The API key is deleted.',
    async handle({ app, db, project, params }) {
      await deleteApiKey(db, project.id, params.keyId);
      await app.directory.forgetEverywhere(project.id);
    },
  }),
];
