import * as v from 'valibot';
import { inProject, route, tagged } from '../http/route.ts';
import { type AppError, bareBadRequest } from '../lib/errors.ts';
import { segmentsOfContact } from './pages.ts';
import {
  AddedMembers,
  AddMembers,
  ComputedMembers,
  ContactSegments,
  CreateSegment,
  ListMembers,
  MembersPage,
  PatchSegment,
  PreviewSegment,
  RefreshedCount,
  RemovedMembers,
  RemoveMembers,
  SegmentBody,
  SegmentPreview,
} from './schema.ts';
import {
  addMembers,
  computeSegment,
  createSegment,
  deleteSegment,
  getSegment,
  listSegments,
  patchSegment,
  previewSegment,
  refreshSegment,
  removeMembers,
  segmentContacts,
} from './service.ts';

const ids = { id: 'segment' };

/** The segments of a project and their members. */
export const segmentRoutes = [
  route.get('/segments', {
    ...inProject('contacts:read'),
    summary: 'List segments',
    returns: 'All segments of the project, newest first.',
    reply: v.array(SegmentBody),
    handle: ({ db, project }) => listSegments(db, project.id),
  }),
  route.post('/segments', {
    heavy: true,
    ...inProject('contacts:write'),
    summary: 'Create a segment',
    description: 'A DYNAMIC segment needs a condition tree; a STATIC one has the members you add.',
    status: 201,
    body: CreateSegment,
    example: {
      name: 'Pro customers',
      condition: { logic: 'AND', groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }] },
    },
    bodyLimit: 'data',
    bodyError(_, body) {
      const { name } = body as { name?: unknown };
      return name === undefined || name === null || name === '' ? bareBadRequest('"name" is required') : null;
    },
    returns: 'The new segment.',
    reply: SegmentBody,
    handle: ({ app, db, project, body }) => createSegment(db, project.id, body, app.clock()),
  }),
  route.post('/segments/preview', {
    bareRefusals: [400],
    heavy: true,
    ...inProject('contacts:read'),
    summary: 'Preview a condition',
    description:
      'Returns how many contacts match a condition tree now, and the ten newest or as many as `limit` says. Nothing is stored.',
    body: PreviewSegment,
    example: {
      condition: { logic: 'AND', groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }] },
    },
    bodyLimit: 'data',
    returns: 'The number of contacts that match, with the newest of them.',
    reply: SegmentPreview,
    handle: ({ app, db, project, body }) => previewSegment(db, project.id, body, app.clock()),
  }),
  route.get('/segments/:id', {
    ...inProject('contacts:read'),
    summary: 'Get a segment',
    ids,
    returns: 'The segment, with `memberCount` as of the last count.',
    reply: SegmentBody,
    guarded: true,
    handle: async ({ db, project, params }) => tagged(await getSegment(db, project.id, params.id)),
  }),
  route.patch('/segments/:id', {
    bareRefusals: [400],
    heavy: true,
    ...inProject('contacts:write'),
    summary: 'Update a segment',
    ids,
    body: PatchSegment,
    example: { name: 'Customers on Pro' },
    bodyLimit: 'data',
    returns: 'The segment with its changes.',
    reply: SegmentBody,
    guarded: true,
    handle: async ({ app, db, project, params, body, header }) =>
      tagged(await patchSegment(db, project.id, params.id, body, app.clock(), header('if-match'))),
  }),
  route.delete('/segments/:id', {
    refusals: [409],
    ...inProject('contacts:write'),
    summary: 'Delete a segment',
    ids,
    status: 204,
    returns: 'The segment is deleted. Its contacts stay.',
    handle: ({ db, project, params }) => deleteSegment(db, project.id, params.id),
  }),
  route.get('/segments/:id/contacts', {
    heavy: true,
    ...inProject('contacts:read'),
    summary: 'List the contacts of a segment',
    ids,
    query: ListMembers,
    returns: 'The page of the contacts that are in the segment now.',
    reply: MembersPage,
    handle: ({ app, db, project, params, query }) => segmentContacts(db, project.id, params.id, query, app.clock()),
  }),
  route.post('/segments/:id/members', {
    ...inProject('contacts:write'),
    summary: 'Add contacts to a STATIC segment',
    operationId: 'addSegmentMembers',
    ids,
    body: AddMembers,
    example: { emails: ['ada@example.com'], createMissing: true },
    bodyLimit: 'document',
    bodyError: emailsMissing,
    returns: 'The numbers of contacts that were `added` and `created`, and the addresses that were `notFound`.',
    reply: AddedMembers,
    handle: ({ db, project, params, body }) => addMembers(db, project.id, params.id, body),
  }),
  route.delete('/segments/:id/members', {
    ...inProject('contacts:write'),
    summary: 'Remove contacts from a STATIC segment',
    operationId: 'removeSegmentMembers',
    ids,
    body: RemoveMembers,
    example: { emails: ['ada@example.com'] },
    bodyLimit: 'document',
    bodyError: emailsMissing,
    returns: 'The number of contacts that were removed from the segment.',
    reply: RemovedMembers,
    handle: ({ db, project, params, body }) => removeMembers(db, project.id, params.id, body),
  }),
  route.post('/segments/:id/compute', {
    heavy: true,
    ...inProject('contacts:write'),
    summary: 'Compute the memberships of a tracked segment',
    ids,
    returns: 'The numbers of contacts that entered and left, and of all members afterwards.',
    reply: ComputedMembers,
    handle: ({ app, db, project, params }) => computeSegment(db, project.id, params.id, app.clock()),
  }),
  route.post('/segments/:id/refresh', {
    heavy: true,
    ...inProject('contacts:write'),
    summary: 'Refresh the member count of a segment',
    ids,
    returns: 'The number of members, counted now.',
    reply: RefreshedCount,
    handle: ({ app, db, project, params }) => refreshSegment(db, project.id, params.id, app.clock()),
  }),
  route.get('/contacts/:id/segments', {
    heavy: true,
    ...inProject('contacts:read'),
    tag: 'segments',
    summary: 'List the segments of a contact',
    operationId: 'listContactSegments',
    description: 'Those that it is in now, static and dynamic.',
    ids: { id: 'contact' },
    returns: 'The segments that the contact is in now, sorted by name.',
    reply: ContactSegments,
    handle: ({ app, db, project, params }) => segmentsOfContact(db, project.id, params.id, app.clock()),
  }),
];

function emailsMissing(_: unknown, body: unknown): AppError | null {
  const { emails } = body as { emails?: unknown };
  return Array.isArray(emails) && emails.length > 0 ? null : bareBadRequest('"emails" must be a non-empty array');
}
