import { depsOf, ids, ok, withMessage, wrapped } from '../../campaigns/record.ts';
import {
  AudienceCount,
  CampaignBody,
  CampaignWithSegment,
  Correction,
  EarlierRecipients,
} from '../../campaigns/schema.ts';
import { inProject, route, taggedReply } from '../../http/route.ts';
import { nameSchemas } from '../../lib/validation/fields.ts';
import {
  CorrectCampaign,
  correctCampaign,
  countCorrection,
  countFollowUp,
  FollowUpAudience,
  FollowUpCampaign,
  followUpCampaign,
  ReviseCampaign,
} from './correct.ts';
import { reviseCampaign } from './revise.ts';

nameSchemas({ CampaignCorrection: Correction, EarlierRecipients });

/** Replacing the content of a campaign while it is sent, and writing to some of those who got it. */
export const campaignRevisionRoutes = [
  route.post('/campaigns/:id/revise', {
    refusals: [409],
    ...inProject('campaigns:send'),
    summary: 'Revise the content of a paused campaign',
    description:
      'Recipients who have not received it yet get the new content when it is resumed; the ledger shows who got which version. Answers 409 `STILL_LEAVING` while messages with the old content are unconfirmed.',
    ids,
    body: ReviseCampaign,
    example: { subject: 'March news, with the right link' },
    bodyLimit: 'document',
    guarded: true,
    returns: 'The campaign with its new content. It stays paused.',
    reply: withMessage('The campaign with its new content.', CampaignWithSegment),
    async handle(input) {
      const { project, params, body, actor, header } = input;
      const revised = await reviseCampaign(depsOf(input), project, params.id, body, actor, header('if-match'));
      return taggedReply({ ...ok(revised.campaign), message: revised.message }, revised.campaign.revision);
    },
  }),
  route.post('/campaigns/:id/correction', {
    heavy: true,
    ...inProject('campaigns:write'),
    summary: 'Create a correction of a campaign',
    description:
      'Creates a draft for exactly the recipients who got these versions of its content, or opened or clicked them. Review and send it like any campaign; contacts who have unsubscribed since are skipped.',
    operationId: 'createCampaignCorrection',
    ids,
    status: 201,
    body: CorrectCampaign,
    example: {
      versions: [1],
      who: 'got',
      subject: 'Correction: the right link',
      body: '<p>Here is the right link.</p>',
    },
    bodyLimit: 'document',
    returns: 'The draft of the correction. Nothing is sent yet.',
    reply: wrapped('The draft of the correction.', CampaignBody),
    handle: async ({ project, params, body, ...input }) =>
      ok(await correctCampaign(depsOf(input), project.id, params.id, body)),
  }),
  route.post('/campaigns/:id/correction/audience', {
    heavy: true,
    ...inProject('campaigns:read'),
    summary: 'Count the recipients of a correction',
    description: 'Counts the contacts a correction would go to now. Nothing is stored.',
    operationId: 'countCampaignCorrection',
    ids,
    body: Correction,
    example: { versions: [1], who: 'got' },
    returns: 'The number of contacts that would receive the correction now.',
    reply: wrapped('Contacts that the correction would go to.', AudienceCount),
    handle: async ({ project, params, body, ...input }) =>
      ok(await countCorrection(depsOf(input), project.id, params.id, body)),
  }),
  route.post('/campaigns/:id/follow-up', {
    heavy: true,
    ...inProject('campaigns:write'),
    summary: 'Create a follow-up of a campaign',
    description:
      'Creates a draft with the content of a finished campaign for some of its recipients: those who opened it or clicked a link, or who did not. Edit, review and send it like any campaign. Contacts who have unsubscribed since are skipped, and contacts who open the first campaign before the follow-up is sent no longer count as not having opened it.',
    operationId: 'createCampaignFollowUp',
    ids,
    status: 201,
    body: FollowUpCampaign,
    example: { who: 'not_opened', subject: 'Have you seen our March news?' },
    returns: 'The draft of the follow-up. Nothing is sent yet.',
    reply: wrapped('The draft of the follow-up.', CampaignBody),
    handle: async ({ project, params, body, ...input }) =>
      ok(await followUpCampaign(depsOf(input), project.id, params.id, body)),
  }),
  route.post('/campaigns/:id/follow-up/audience', {
    heavy: true,
    ...inProject('campaigns:read'),
    summary: 'Count the recipients of a follow-up',
    description: 'Counts the contacts a follow-up would go to now. Nothing is stored.',
    operationId: 'countCampaignFollowUp',
    ids,
    body: FollowUpAudience,
    example: { who: 'not_opened' },
    returns: 'The number of contacts that would receive the follow-up now.',
    reply: wrapped('Contacts that the follow-up would go to.', AudienceCount),
    handle: async ({ project, params, body, ...input }) =>
      ok(await countFollowUp(depsOf(input), project.id, params.id, body.who)),
  }),
];
