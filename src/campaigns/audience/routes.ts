import * as v from 'valibot';
import { inProject, route } from '../../http/route.ts';
import { field } from '../../lib/validation/fields.ts';
import { ok, wrapped } from '../record.ts';
import { AudienceCount, CreateCampaign } from '../schema.ts';
import { audienceCounts, checkConditionShape } from './audience.ts';
import { checkAudience, checkCompanions } from './cursor.ts';

const { audienceType, audienceCondition, segmentId, type } = CreateCampaign.entries;

/** `POST /campaigns/audience`: an audience as campaigns have it, saved or not. */
const CountAudience = v.object({
  type: field('Type of the campaign. `TRANSACTIONAL` counts contacts that are not subscribed too.', type),
  audienceType: field('Audience of the campaign: `ALL`, `SEGMENT` or `FILTERED`.', audienceType),
  audienceCondition: field('Condition that contacts must match. Required for `FILTERED`.', audienceCondition),
  segmentId: field('ID of the segment whose members are counted. Required for `SEGMENT`.', segmentId),
});

/** How many an audience is, while it is being chosen. */
export const campaignAudienceRoutes = [
  route.post('/campaigns/audience', {
    heavy: true,
    refusals: [404],
    ...inProject('campaigns:read'),
    summary: 'Count an audience',
    description: 'Counts the contacts a campaign with this audience would go to now. Nothing is stored.',
    operationId: 'countCampaignAudience',
    body: CountAudience,
    example: { audienceType: 'ALL' },
    bodyLimit: 'document',
    returns: 'The number of contacts that would receive the campaign now, and of those left out.',
    reply: wrapped('Contacts that the campaign would go to.', AudienceCount),
    async handle({ app, db, project, body }) {
      if (body.audienceType === 'FILTERED' && body.audienceCondition) checkConditionShape(body.audienceCondition);
      checkCompanions(body);
      await checkAudience(db, project.id, body);
      return ok(await audienceCounts(db, { projectId: project.id, ...body }, app.clock()));
    },
  }),
];
