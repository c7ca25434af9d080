import * as v from 'valibot';
import { route } from '../http/route.ts';
import { AppError } from '../lib/errors.ts';
import { sentenceOf } from '../lib/validation/fields.ts';
import { field } from '../lib/validation/names.ts';
import type { FieldProblem } from '../lib/validation/problems.ts';
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
