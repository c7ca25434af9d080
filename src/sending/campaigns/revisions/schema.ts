import * as v from 'valibot';
import { BodySource, DocumentSource, needsContent, SubjectSource } from '../../../content/templates/index.ts';
import { Correction } from '../schema.ts';

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
