import * as v from 'valibot';
import { inProject, route } from '../../http/route.ts';
import { bareBadRequest, invalid } from '../../lib/errors.ts';
import { fieldProblems } from '../../lib/validation/problems.ts';
import type { Database } from '../../store/sql.ts';
import { refuseErased } from '../erased.ts';
import {
  ContactEventList,
  EventBody,
  EventDeletion,
  EventList,
  EventNames,
  EventStats,
  EventStatsQuery,
  EventUsage,
  ListContactEvents,
  ListEvents,
  RecordEvent,
  TrackBody,
  TrackEither,
  TrackReply,
} from './schema.ts';
import {
  deleteEvents,
  eventNames,
  eventStats,
  eventUsage,
  listContactEvents,
  listEvents,
  recordEvent,
  seemToTrack,
  track,
} from './service.ts';

/** Events: recording and listing them, and what uses their names. */
export const eventRoutes = [
  route.post('/v1/track', {
    scope: 'events:write',
    access: 'public',
    summary: 'Track an event of a contact',
    operationId: 'trackEvent',
    description: 'Creates the contact if it is new. Takes the public key, so browsers and apps can call it.',
    tag: 'events',
    idempotent: true,
    body: TrackBody,
    example: { email: 'ada@example.com', event: 'signup', subscribed: true, data: { plan: 'pro' } },
    bodyLimit: 'event',
    returns: 'The IDs of the contact and of the event, and when the event was recorded.',
    reply: TrackReply,
    async handle({ app, db, writeOnce, keepAnswer, project, body }) {
      const answerOf = (data: TrackReply['data']) => ({ success: true, data });
      const keep = (tx: Database, data: TrackReply['data']) => keepAnswer(tx, answerOf(data));
      // Whoever has the public key could otherwise ask which addresses were erased.
      const standIn = await app.erasedAddresses.standInFor(project.id, body.email);
      return answerOf(
        standIn === null
          ? await track(writeOnce, project.id, body, keep)
          : await seemToTrack(db, writeOnce, project.id, body, standIn, keep),
      );
    },
  }),
  route.post('/events/track', {
    refusals: [404],
    ...inProject('events:write'),
    summary: 'Record an event',
    operationId: 'recordEvent',
    description:
      'For a contact by `contactId` (without changing its data), for no contact, or with the body of `POST /v1/track`.',
    status: 201,
    body: TrackEither,
    example: { name: 'invoice.paid', contactId: '9b2f6c1e-3d4a-4f5b-8c6d-7e8f9a0b1c2d', data: { amount: 4900 } },
    bodyLimit: 'event',
    bodyError(_, body, suggestion) {
      const { name, event } = body as { name?: unknown; event?: unknown };
      const isGiven = (value: unknown) => value !== undefined && value !== null && value !== '';
      if (!isGiven(name) && !isGiven(event)) return bareBadRequest('The name of the event is required');
      const { issues = [] } = v.safeParse<typeof RecordEvent | typeof TrackBody>(
        isGiven(name) ? RecordEvent : TrackBody,
        body,
      );
      return invalid(fieldProblems(issues), suggestion);
    },
    returns: 'The event as it was recorded.',
    reply: EventBody,
    async handle({ app, db, project, body }) {
      if ('track' in body)
        await refuseErased(app.erasedAddresses, project.id, [{ field: 'email', email: body.track.email }]);
      return recordEvent(db, project.id, body);
    },
  }),
  route.get('/events', {
    ...inProject('contacts:read'),
    summary: 'List events',
    query: ListEvents,
    returns: 'The latest events, newest first, each with the address of its contact.',
    reply: EventList,
    handle: ({ db, project, query }) => listEvents(db, project.id, query),
  }),
  route.get('/events/stats', {
    heavy: true,
    ...inProject('contacts:read'),
    summary: 'Count events by name',
    query: EventStatsQuery,
    returns: 'The event names, most frequent first, each with the number of times it occurred.',
    reply: EventStats,
    handle: ({ db, project, query }) => eventStats(db, project.id, query),
  }),
  route.get('/events/names', {
    heavy: true,
    ...inProject('contacts:read'),
    summary: 'List event names',
    returns: 'The names of the project’s events, most frequent first.',
    reply: EventNames,
    handle: ({ db, project }) => eventNames(db, project.id),
  }),
  route.get('/events/contact/:contactId', {
    ...inProject('contacts:read'),
    summary: 'List the events of a contact',
    operationId: 'listContactEvents',
    query: ListContactEvents,
    returns: 'The latest events of the contact, newest first.',
    reply: ContactEventList,
    handle: ({ db, project, params, query }) => listContactEvents(db, project.id, params.contactId, query.limit),
  }),
  route.get('/events/:eventName/usage', {
    pathTexts: { eventName: 'Name of the event.' },
    heavy: true,
    ...inProject('contacts:read'),
    summary: 'Get what uses an event',
    returns: 'The segments and workflows that use the event, how often it occurred, and whether it can be deleted.',
    reply: EventUsage,
    handle: ({ db, project, params }) => eventUsage(db, project.id, params.eventName),
  }),
  route.delete('/events/:eventName', {
    bareRefusals: [400],
    pathTexts: { eventName: 'Name of the event.' },
    heavy: true,
    ...inProject('contacts:write'),
    summary: 'Delete every event of a name',
    operationId: 'deleteEvents',
    description: 'Names that a segment or workflow uses, and those of the service itself, cannot be deleted.',
    returns: 'The number of events that were deleted.',
    reply: EventDeletion,
    handle: ({ db, project, params }) => deleteEvents(db, project.id, params.eventName),
  }),
];
