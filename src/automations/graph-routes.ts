import { reply, route } from '../http/route.ts';
import { type AppError, bareBadRequest } from '../lib/errors.ts';
import { CreateStep, CreateTransition, DeleteStep, InsertStep, PatchStep, StepBody, TransitionBody } from './schema.ts';
import { createStep, deleteStep, insertStepInto, patchStep } from './steps-service.ts';
import { createTransition, deleteTransition } from './transitions-service.ts';

const ids = { id: 'workflow' };
const stepIds = { ...ids, stepId: 'step' };
const transitionIds = { ...ids, transitionId: 'transition' };
const tag = 'workflows';

const missing =
  (...fields: string[]) =>
  (_: unknown, body: unknown): AppError | null => {
    const given = body as Record<string, unknown>;
    const absent = fields.find((field) => given[field] === undefined || given[field] === null || given[field] === '');
    return absent === undefined ? null : bareBadRequest(`"${absent}" is required`);
  };

/** The steps and transitions of automations. */
export const automationGraphRoutes = [
  route({
    method: 'POST',
    path: '/workflows/:id/steps',
    access: 'dashboard',
    tag,
    summary: 'Add a step',
    description: 'With `autoConnect` (the default) the newest step that leads nowhere leads to it.',
    ids,
    status: 201,
    body: CreateStep,
    bodyError: missing('type', 'name', 'position', 'config'),
    reply: StepBody,
    handle: ({ db, project, params, body }) => createStep(db, project.id, params.id ?? '', body),
  }),
  route({
    method: 'PATCH',
    path: '/workflows/:id/steps/:stepId',
    access: 'dashboard',
    tag,
    summary: 'Change a step',
    ids: stepIds,
    body: PatchStep,
    reply: StepBody,
    handle: ({ db, project, params, body }) => patchStep(db, project.id, params.id ?? '', params.stepId ?? '', body),
  }),
  route({
    method: 'DELETE',
    path: '/workflows/:id/steps/:stepId',
    access: 'dashboard',
    tag,
    summary: 'Delete a step',
    description: 'With everything that it leads to, or with `splice=true` alone.',
    ids: stepIds,
    query: DeleteStep,
    status: 204,
    async handle({ db, project, params, query }) {
      await deleteStep(db, project.id, params.id ?? '', params.stepId ?? '', query.splice === 'true');
      return reply(204);
    },
  }),
  route({
    method: 'POST',
    path: '/workflows/:id/transitions',
    access: 'dashboard',
    tag,
    summary: 'Connect two steps',
    ids,
    status: 201,
    body: CreateTransition,
    bodyError: missing('fromStepId', 'toStepId'),
    reply: TransitionBody,
    handle: ({ db, project, params, body }) => createTransition(db, project.id, params.id ?? '', body),
  }),
  route({
    method: 'DELETE',
    path: '/workflows/:id/transitions/:transitionId',
    access: 'dashboard',
    tag,
    summary: 'Remove a transition',
    ids: transitionIds,
    status: 204,
    async handle({ db, project, params }) {
      await deleteTransition(db, project.id, params.id ?? '', params.transitionId ?? '');
      return reply(204);
    },
  }),
  route({
    method: 'POST',
    path: '/workflows/:id/transitions/:transitionId/insert-step',
    access: 'dashboard',
    tag,
    summary: 'Put a step between two others',
    ids: transitionIds,
    status: 201,
    body: InsertStep,
    bodyError: missing('type', 'name', 'config'),
    reply: StepBody,
    handle: ({ db, project, params, body }) =>
      insertStepInto(db, project.id, params.id ?? '', params.transitionId ?? '', body),
  }),
];
