import { nameSchemas } from '@fernpost/openapi/names';
import * as v from 'valibot';
import { inProject, route } from '../../../core/http/route.ts';
import { ok, wrapped } from '../route-kit.ts';
import { CreateCampaign } from '../schema.ts';
import { audienceCounts } from './audience.ts';
import { checkAudience, checkCompanions } from './checks.ts';
import { checkConditionShape } from './condition-shape.ts';

const { audienceType, audienceCondition, segmentId, type } = CreateCampaign.entries;

/** `POST /campaigns/audience`: an audience as campaigns have it, saved or not. */
const CountAudience = v.object({ type, audienceType, audienceCondition, segmentId });

/** How many a campaign would go to now. */
export const AudienceCount = v.object({
  recipients: v.number(),
  /** Contacts whom the audience chooses and who are left out because they are unsubscribed. */
  unsubscribed: v.number(),
});

nameSchemas({ CampaignAudienceCount: AudienceCount });

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
    reply: wrapped(AudienceCount),
    async handle({ app, db, project, body }) {
      if (body.audienceType === 'FILTERED' && body.audienceCondition) checkConditionShape(body.audienceCondition);
      checkCompanions(body);
      await checkAudience(db, project.id, body);
      return ok(await audienceCounts(db, { projectId: project.id, ...body }, app.clock()));
    },
  }),
];
