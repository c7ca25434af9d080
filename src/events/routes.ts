import { route } from '../http/route.ts';
import { TrackBody, TrackReply } from './schema.ts';
import { track } from './service.ts';

/** Events as callers record them. */
export const eventRoutes = [
  route({
    method: 'POST',
    path: '/v1/track',
    access: 'public',
    summary: 'Record an event of a contact',
    description: 'Creates the contact when it is new. Takes the public key, so that browsers and apps may call it.',
    tag: 'public API',
    idempotent: true,
    body: TrackBody,
    reply: TrackReply,
    async handle({ db, project, body }) {
      return { success: true, data: await track(db, project.id, body) };
    },
  }),
];
