import * as v from 'valibot';
import { Drift } from '../campaigns/launch.ts';
import { answer, depsOf, ids, message, ok, withMessage } from '../campaigns/record.ts';
import { CampaignWithSegment } from '../campaigns/schema.ts';
import { getCampaign } from '../campaigns/service.ts';
import { lockCampaign } from '../campaigns/state.ts';
import { inProject, reply, route } from '../http/route.ts';
import { CampaignStatus } from '../lib/enums.ts';
import { field } from '../lib/validation/fields.ts';
import { checkUnplanned } from '../projects/api-key-service.ts';
import { continueFromCanary } from './canary/choose.ts';
import { CanaryOptions } from './canary/view.ts';
import { resendCampaign } from './resending.ts';
import { withdrawApproval } from './review/approval.ts';
import { approveCampaign, sendCampaign } from './sending.ts';

const Fingerprint = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'must be the fingerprint of a dry run'));

/** `POST /campaigns/{id}/send`: anything a JavaScript date parser reads, or nothing for now. */
export const SendCampaign = v.object({
  canary: field(
    'Sends to a first slice of the audience and holds everyone else back. Absent keeps the canary of a scheduled campaign; null removes it.',
    v.nullish(CanaryOptions),
  ),
  fingerprint: field(
    'Fingerprint of a dry run. The send is refused if the campaign has changed since that review. Absent keeps the review of a scheduled campaign; null removes it.',
    v.nullish(Fingerprint),
  ),
  drift: field(
    'How far the audience may have changed since the dry run. `none`: exactly the reviewed contacts. `fewer`: nobody may have joined. A number from 0 to 1: the share of the audience that may have joined or left. Needs a `fingerprint`; `none` when absent.',
    v.optional(Drift),
  ),
  scheduledFor: field(
    'When to send: a date such as `2026-03-01T09:00:00Z`, or epoch milliseconds. Absent or null sends immediately.',
    v.optional(v.unknown()),
  ),
});
export type SendCampaign = v.InferOutput<typeof SendCampaign>;

/** `POST /campaigns/{id}/approve`. */
const ApproveSend = v.object({
  fingerprint: field('Fingerprint of the review that is waiting for approval.', Fingerprint),
});

/** How campaigns are launched; what follows of a launch is in the tables of reviews and revisions. */
export const launchRoutes = [
  route.post('/campaigns/:id/send', {
    heavy: true,
    ...inProject('campaigns:send'),
    summary: 'Send or schedule a campaign',
    description:
      'Returns before any mail is sent; the stats show the progress. A scheduled campaign is rescheduled. With `canary`, only a first slice is sent; everyone else follows after the hold unless a limit is exceeded.',
    ids,
    body: SendCampaign,
    example: { scheduledFor: '2026-12-01T09:00:00Z', canary: { recipients: 1000, hold: '60m' } },
    returns: {
      200: 'The campaign, which is being sent or is scheduled; `GET /campaigns/{id}/stats` shows the progress.',
      202: 'The campaign, still a draft: the send waits in `approval` for an admin. Nothing is sent yet.',
    },
    reply: withMessage(
      'The campaign. With the status 202 it is still a draft, and `approval` is set.',
      CampaignWithSegment,
    ),
    refusals: [409],
    async handle(input) {
      const { project, params, body, actor } = input;
      const sent = await sendCampaign(depsOf(input), project, params.id, body, actor);
      return reply(
        sent.campaign.approval === null || sent.campaign.status !== CampaignStatus.DRAFT ? 200 : 202,
        answer(sent),
      );
    },
  }),
  route.post('/campaigns/:id/approve', {
    heavy: true,
    access: 'dashboard',
    role: 'ADMIN',
    refusesKeys: true,
    refusals: [409],
    summary: 'Approve a send',
    description: 'Starts the waiting send as it was requested. The person who requested it cannot approve it.',
    ids,
    body: ApproveSend,
    example: { fingerprint: 'c0ffee'.padEnd(64, '0') },
    returns: 'The campaign, which is being sent or is scheduled from now on.',
    reply: withMessage('The campaign, which is now being sent or scheduled.', CampaignWithSegment),
    handle: async ({ project, params, body, actor, ...input }) =>
      answer(await approveCampaign(depsOf(input), project, params.id, body.fingerprint, actor)),
  }),
  route.delete('/campaigns/:id/approval', {
    ...inProject('campaigns:send'),
    refusals: [409],
    summary: 'Withdraw or decline a send that is waiting for approval',
    operationId: 'withdrawCampaignApproval',
    ids,
    returns: 'Nothing waits for approval anymore. The campaign itself stays as it is.',
    reply: message,
    async handle({ db, project, params, actor }) {
      await db.transaction(async (tx) => withdrawApproval(tx, await lockCampaign(tx, project.id, params.id), actor));
      return { success: true, message: 'Nothing is waiting for approval any more' };
    },
  }),
  route.post('/campaigns/:id/resend', {
    heavy: true,
    ...inProject('campaigns:send'),
    summary: 'Resend to the recipients a campaign missed',
    description:
      'Creates and starts a copy for the recipients who were skipped or failed and can receive email now. No recipient gets the campaign twice. One resend for each send.',
    ids,
    status: 201,
    returns: 'The campaign that was created for the resend, which is being sent.',
    reply: withMessage('The campaign that was created for the resend.', CampaignWithSegment),
    handle: async (input) => answer(await resendCampaign(depsOf(input), input.project, input.params.id, input.actor)),
  }),
  route.post('/campaigns/:id/canary/continue', {
    refusals: [409],
    ...inProject('campaigns:send'),
    summary: 'End the canary of a campaign early and continue',
    description: 'The rest of the audience follows at once; limits no longer apply. Safe to repeat.',
    operationId: 'continueCampaignFromCanary',
    ids,
    returns: 'The campaign, which is now being sent to everyone else.',
    reply: withMessage('The campaign, which is now sent to everyone else.', CampaignWithSegment),
    async handle(input) {
      const { app, db, project, actor, params } = input;
      checkUnplanned(actor.kind === 'key' ? actor.scoped : null, Infinity);
      const ticket = await continueFromCanary(db, project.id, params.id);
      if (ticket !== null) app.outbox.dispatchSoon(ticket);
      const data = await getCampaign(depsOf(input), project.id, params.id);
      return { ...ok(data), message: 'Canary ended: sending continues' };
    },
  }),
];
