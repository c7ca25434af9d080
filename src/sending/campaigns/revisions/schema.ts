import { field } from '@fernpost/openapi/names';
import * as v from 'valibot';
import { BodySource, DocumentSource, needsContent, SubjectSource } from '../../../content/templates/index.ts';
import { Correction, FollowUpReach } from '../schema.ts';

/** `POST /campaigns/{id}/revise`: what is absent stays. */
export const ReviseCampaign = v.object({
  subject: field('New subject line, with Liquid variables; absent keeps the current one.', v.optional(SubjectSource)),
  body: field(
    'New HTML body, with Liquid variables; absent keeps the current one. Give either `body` or `document`.',
    v.optional(BodySource),
  ),
  document: field(
    'Blocks that the new HTML body is compiled from, in place of `body`; absent keeps the current content.',
    DocumentSource,
  ),
});
export type ReviseCampaign = v.InferOutput<typeof ReviseCampaign>;

/** `POST /campaigns/{id}/correction`. */
export const CorrectCampaign = v.pipe(
  v.object({
    ...Correction.entries,
    subject: field('Subject line of the correction, with Liquid variables; 1 to 998 characters.', SubjectSource),
    body: field(
      'HTML body of the correction, with Liquid variables. Give either `body` or `document`.',
      v.optional(BodySource),
    ),
    document: field(
      'Blocks that the HTML body is compiled from, in place of `body`; see the templates guide.',
      DocumentSource,
    ),
  }),
  needsContent(),
);
export type CorrectCampaign = v.InferOutput<typeof CorrectCampaign>;

/** `POST /campaigns/{id}/follow-up/audience`. */
export const FollowUpAudience = v.object({
  who: field(
    'Recipients of the follow-up. `got`: all recipients of the campaign. `opened`, `clicked`: those who opened it or clicked a link. `not_opened`, `not_clicked`: those who did not. Bounced emails count for `got` only.',
    FollowUpReach,
  ),
});

/** `POST /campaigns/{id}/follow-up`: without a subject it is that of the campaign. */
export const FollowUpCampaign = v.object({
  ...FollowUpAudience.entries,
  subject: field(
    'Subject line of the follow-up, with Liquid variables; that of the campaign when absent.',
    v.optional(SubjectSource),
  ),
});
export type FollowUpCampaign = v.InferOutput<typeof FollowUpCampaign>;
