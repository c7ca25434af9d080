import * as v from 'valibot';
import { BodySource, DocumentSource, needsContent, SubjectSource } from '../../../content/templates/index.ts';
import { Correction, FollowUpReach } from '../schema.ts';

/** `POST /campaigns/{id}/revise`: what is absent stays. */
export const ReviseCampaign = v.object({
  subject: v.optional(SubjectSource),
  body: v.optional(BodySource),
  document: DocumentSource,
});
export type ReviseCampaign = v.InferOutput<typeof ReviseCampaign>;

/** `POST /campaigns/{id}/correction`. */
export const CorrectCampaign = v.pipe(
  v.object({
    ...Correction.entries,
    subject: SubjectSource,
    body: v.optional(BodySource),
    document: DocumentSource,
  }),
  needsContent(),
);
export type CorrectCampaign = v.InferOutput<typeof CorrectCampaign>;

/** `POST /campaigns/{id}/follow-up/audience`. */
export const FollowUpAudience = v.object({ who: FollowUpReach });

/** `POST /campaigns/{id}/follow-up`: without a subject it is that of the campaign. */
export const FollowUpCampaign = v.object({ ...FollowUpAudience.entries, subject: v.optional(SubjectSource) });
export type FollowUpCampaign = v.InferOutput<typeof FollowUpCampaign>;
