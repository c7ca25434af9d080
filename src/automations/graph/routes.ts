import { inProject, route, taggedReply } from '../../http/route.ts';
import { type AppError, bareBadRequest } from '../../lib/errors.ts';
import { type Edited, editOf } from '../rows.ts';
import { CreateStep, CreateTransition, DeleteStep, InsertStep, PatchStep, StepBody, TransitionBody } from './schema.ts';
import { createStep, createTransition, deleteStep, deleteTransition, insertStepInto, patchStep } from './steps.ts';

const ids = { id: 'workflow' };
const stepIds = { ...ids, stepId: 'step' };
const transitionIds = { ...ids, transitionId: 'transition' };
const tag = 'workflows';

/** An answer with the `ETag` that the edit has made. */
const answer = <Body>(status: number, { body, revision }: Edited<Body>) => taggedReply(body, revision, status);

const missing =
  (...fields: string[]) =>
  (_: unknown, body: unknown): AppError | null => {
    const given = body as Record<string, unknown>;
    const absent = fields.find((field) => given[field] === undefined || given[field] === null || given[field] === '');
    return absent === undefined ? null : bareBadRequest(`"${absent}" is required`);
  };

/** The steps and transitions of automations. */
export const automationGraphRoutes = [
  route.post('/workflows/:id/steps', {
    ...inProject('workflows:write'),
    tag,
    summary: 'Add a step',
    description: 'With `autoConnect` (the default), the newest step without a next step is connected to it.',
    ids,
    status: 201,
    body: CreateStep,
    example: { type: 'DELAY', name: 'Wait a day', position: { x: 0, y: 160 }, config: { amount: 1, unit: 'days' } },
    bodyLimit: 'data',
    bodyError: missing('type', 'name', 'position', 'config'),
    returns: 'The new step.',
    reply: StepBody,
    guarded: true,
    handle: async (call) => answer(201, await createStep(editOf(call), call.body)),
  }),
  route.patch('/workflows/:id/steps/:stepId', {
    refusals: [409],
    ...inProject('workflows:write'),
    tag,
    summary: 'Update a step',
    ids: stepIds,
    body: PatchStep,
    example: { config: { amount: 2, unit: 'days' } },
    bodyLimit: 'data',
    returns: 'The step with its changes.',
    reply: StepBody,
    guarded: true,
    handle: async (call) => answer(200, await patchStep(editOf(call), call.params.stepId, call.body)),
  }),
  route.delete('/workflows/:id/steps/:stepId', {
    refusals: [409],
    ...inProject('workflows:write'),
    tag,
    summary: 'Delete a step',
    description: 'Together with everything after it, or with `splice=true` on its own.',
    ids: stepIds,
    query: DeleteStep,
    status: 204,
    returns: 'The step is deleted, with everything after it unless `splice=true`.',
    guarded: true,
    handle: async (call) =>
      answer(204, await deleteStep(editOf(call), call.params.stepId, call.query.splice === 'true')),
  }),
  route.post('/workflows/:id/transitions', {
    ...inProject('workflows:write'),
    tag,
    summary: 'Connect two steps',
    ids,
    status: 201,
    body: CreateTransition,
    example: { fromStepId: '9b2f6c1e-3d4a-4f5b-8c6d-7e8f9a0b1c2d', toStepId: '1c0de5a7-55aa-4e7b-9f10-2d3c4b5a6978' },
    bodyLimit: 'data',
    bodyError: missing('fromStepId', 'toStepId'),
    returns: 'The new transition.',
    reply: TransitionBody,
    guarded: true,
    handle: async (call) => answer(201, await createTransition(editOf(call), call.body)),
  }),
  route.delete('/workflows/:id/transitions/:transitionId', {
    refusals: [409],
    ...inProject('workflows:write'),
    tag,
    summary: 'Delete a transition',
    ids: transitionIds,
    status: 204,
    returns: 'The transition is deleted. Its steps stay.',
    guarded: true,
    handle: async (call) => answer(204, await deleteTransition(editOf(call), call.params.transitionId)),
  }),
  route.post('/workflows/:id/transitions/:transitionId/insert-step', {
    ...inProject('workflows:write'),
    tag,
    summary: 'Insert a step between two others',
    operationId: 'insertWorkflowStep',
    ids: transitionIds,
    status: 201,
    body: InsertStep,
    example: { type: 'DELAY', name: 'Wait a day', config: { amount: 1, unit: 'days' } },
    bodyLimit: 'data',
    bodyError: missing('type', 'name', 'config'),
    returns: 'The new step, which is connected to both of its neighbors.',
    reply: StepBody,
    guarded: true,
    handle: async (call) => answer(201, await insertStepInto(editOf(call), call.params.transitionId, call.body)),
  }),
];
