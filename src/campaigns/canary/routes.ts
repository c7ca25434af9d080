import { inProject, route } from '../../http/route.ts';
import { checkUnplanned } from '../../projects/api-key-service.ts';
import { ids, ok, withMessage } from '../record.ts';
import { CampaignWithSegment } from '../schema.ts';
import { getCampaign } from '../service.ts';
import { continueFromCanary } from './choose.ts';

/** What a person may decide about a canary; pausing and cancelling are those of its campaign. */
export const canaryRoutes = [
  route.post('/campaigns/:id/canary/continue', {
    refusals: [409],
    ...inProject('campaigns:send'),
    summary: 'End the canary of a campaign early and continue',
    description: 'The rest of the audience follows at once; limits no longer apply. Safe to repeat.',
    operationId: 'continueCampaignFromCanary',
    ids,
    reply: withMessage('The campaign, which is now sent to everyone else.', CampaignWithSegment),
    async handle({ app, db, project, actor, params }) {
      checkUnplanned(actor.kind === 'key' ? actor.scoped : null, Infinity);
      const ticket = await continueFromCanary(db, project.id, params.id);
      if (ticket !== null) app.outbox.dispatchSoon(ticket);
      const data = await getCampaign({ db, provider: app.mailer.name }, project.id, params.id);
      return { ...ok(data), message: 'Canary ended: sending continues' };
    },
  }),
];
