import { describedBy, nameSchemas } from '@fernpost/openapi/names';
import {
  choice,
  choiceParameter,
  directionParameter,
  EmailField,
  GivenUuid,
  Instant,
  JsonObject,
  pageParameters,
  parameter,
  Uuid,
  withBareSender,
} from '@fernpost/validation';
import * as v from 'valibot';
import { ConditionShape } from '../../audience/conditions/index.ts';
import { SegmentBody } from '../../audience/segments/index.ts';
import { contentEntries, givenContentEntries, needsContent, TypeField } from '../../content/templates/index.ts';
import { PageFigures } from '../../core/lib/offset-page.ts';
import { SendingHold } from '../engine/index.ts';
import { CanaryBody, CanaryOptions } from './canary/schema.ts';
import { Approval, reviewedSend } from './review/schema.ts';

/** The states of a campaign (contract page 2, 2.2). */
export const campaignStatuses = ['DRAFT', 'SCHEDULED', 'SENDING', 'SENT', 'CANCELLED'] as const;
export type CampaignStatus = (typeof campaignStatuses)[number];

/** How a campaign's audience is chosen (contract page 2, 2.3). */
export const audienceTypes = ['ALL', 'SEGMENT', 'FILTERED'] as const;
export type AudienceType = (typeof audienceTypes)[number];

const AudienceTypeField = choice(audienceTypes);
const Name = v.pipe(v.string(), v.minLength(1, 'name must not be empty'));
const AnyObject = v.record(v.string(), v.unknown());
const AudienceCondition = describedBy(v.pipe(JsonObject), ConditionShape);

/** What counts as having got a version: its hand-over, or that it was opened or clicked. */
const correctionReaches = ['got', 'opened', 'clicked'] as const;
/** Whom a follow-up can go to: those of a correction, and those who did nothing with what they got. */
const followUpReaches = [...correctionReaches, 'not_opened', 'not_clicked'] as const;

const ContentVersions = v.pipe(
  v.array(v.pipe(v.number(), v.integer('must be a whole number'), v.minValue(1, 'must be at least 1'))),
  v.minLength(1, 'must name at least one version'),
  v.maxLength(100, 'must name at most 100 versions'),
  v.description('The versions of the content whose recipients it goes to.'),
);

/** Who a correction goes to: recipients of certain versions of a send. */
export const Correction = v.object({
  versions: ContentVersions,
  who: v.pipe(
    choice(correctionReaches),
    v.description('All recipients of the versions, or only those who opened it or clicked a link.'),
  ),
});
export type Correction = v.InferOutput<typeof Correction>;

/** Who a follow-up goes to. Whose mail bounced counts neither as `not_opened` nor as `not_clicked`. */
export const FollowUpReach = v.pipe(
  choice(followUpReaches),
  v.description(
    'All recipients of the campaign, or only those who opened it, clicked a link, or did neither of these. Bounced emails count for `got` only.',
  ),
);

/** Which recipients of an earlier campaign a correction or a follow-up goes to. */
export const EarlierRecipients = v.object({ versions: ContentVersions, who: FollowUpReach });
export type EarlierRecipients = v.InferOutput<typeof EarlierRecipients>;

/** The counters of a campaign that answers show. */
export const campaignCounts = {
  totalRecipients: v.number(),
  sentCount: v.number(),
  deliveredCount: v.number(),
  openedCount: v.number(),
  clickedCount: v.number(),
  bouncedCount: v.number(),
  complainedCount: v.number(),
  unsubscribedCount: v.number(),
};

/** A campaign in an answer. */
export const CampaignBody = v.object({
  id: Uuid,
  ...contentEntries,
  status: v.picklist(campaignStatuses),
  audienceType: AudienceTypeField,
  // What came with another kind of audience is kept as it was, whatever it is.
  audienceCondition: v.nullable(AnyObject),
  segmentId: v.nullable(Uuid),
  scheduledFor: v.nullable(Instant),
  ...campaignCounts,
  archived: v.boolean(),
  /** Since when a campaign that is SENDING is paused. */
  pausedAt: v.nullable(Instant),
  /** Why the service paused it; null where a person did. */
  pauseReason: v.pipe(
    v.nullable(v.string()),
    v.description('Why the service paused it, as a code; null where a person did.'),
  ),
  /** The campaign whose recipients this one goes to: those it missed, or by `correction` some of those who got it. */
  resendOf: v.nullable(Uuid),
  /** Which of its recipients, where it corrects that campaign or follows it up. */
  correction: v.pipe(
    v.nullable(EarlierRecipients),
    v.description(
      'Where it corrects the campaign in `resendOf`, or follows it up: which of its recipients it goes to. Null for others.',
    ),
  ),
  contentVersion: v.pipe(
    v.number(),
    v.description('The version of the content that its current send hands over: 1, and one more for each revision.'),
  ),
  /** Counts every edit of content and audience; the `ETag`, without its quotes. */
  revision: v.number(),
  projectId: Uuid,
  sentAt: v.nullable(Instant),
  createdAt: Instant,
  updatedAt: Instant,
});
export type CampaignBody = v.InferOutput<typeof CampaignBody>;

/** A campaign with its segment, as the list, the single look-up and `send` answer it. */
export const CampaignWithSegment = v.object({
  ...CampaignBody.entries,
  segment: v.nullable(SegmentBody),
  /** The send that waits for an admin; null for none. */
  approval: v.pipe(
    v.nullable(Approval),
    v.description('The send that waits for the approval of an admin; null for none.'),
  ),
  /** Why a campaign that is SENDING stands still, as a sentence; null while it moves. */
  held: v.nullable(v.string()),
  hold: v.pipe(
    v.nullable(SendingHold),
    v.description('Why a campaign that is SENDING waits for the mail provider; null while it does not.'),
  ),
  /** The canary of its current send; null without one. */
  canary: v.pipe(v.nullable(CanaryBody), v.description('The canary of its current send; null without one.')),
});
export type CampaignWithSegment = v.InferOutput<typeof CampaignWithSegment>;

const parts = {
  name: Name,
  ...givenContentEntries,
  audienceType: AudienceTypeField,
  audienceCondition: v.nullish(AudienceCondition),
  segmentId: v.nullish(GivenUuid),
};

/** `POST /campaigns`. */
export const CreateCampaign = v.pipe(
  v.object({ ...parts, type: v.optional(TypeField, 'MARKETING') }),
  needsContent(),
  v.transform(withBareSender),
);
export type CreateCampaign = v.InferOutput<typeof CreateCampaign>;

/** `PUT /campaigns/{id}`: what is absent stays, `null` clears. */
export const UpdateCampaign = v.pipe(v.partial(v.object({ ...parts, type: TypeField })), v.transform(withBareSender));
export type UpdateCampaign = v.InferOutput<typeof UpdateCampaign>;

/** What campaigns are listed by. */
export const campaignSorts = ['name', 'subject', 'status', 'scheduledFor', 'sentAt', 'createdAt', 'updatedAt'] as const;

/** `GET /campaigns`; an unknown sort or direction falls back to the default. */
export const ListCampaigns = v.object({
  ...pageParameters(1000),
  status: choiceParameter('All when absent.', campaignStatuses),
  search: parameter('Text in name, subject or sender, in any letter case.'),
  archived: parameter('`true` lists the archive; otherwise it is left out.', { type: 'boolean', default: false }),
  sort: choiceParameter('What to sort by.', campaignSorts, 'createdAt'),
  dir: directionParameter,
});
export type ListCampaigns = v.InferOutput<typeof ListCampaigns>;

/** A page of campaigns. */
export const CampaignPage = v.object({
  data: v.array(CampaignWithSegment),
  ...PageFigures.entries,
  archivedCount: v.number(),
});

/** `POST /campaigns/{id}/send`: anything a JavaScript date parser reads, or nothing for now. */
export const SendCampaign = v.object({
  /** Absent keeps the canary of a scheduled campaign; null removes it. */
  canary: v.pipe(
    v.nullish(CanaryOptions),
    v.description(
      'Sends a first slice and holds everyone else back. Absent keeps the canary of a scheduled campaign, null removes it.',
    ),
  ),
  ...reviewedSend,
  scheduledFor: v.optional(
    v.pipe(
      v.unknown(),
      v.description('When to send: a date such as `2026-03-01T09:00:00Z`, or epoch milliseconds. Absent or null: now.'),
    ),
  ),
});
export type SendCampaign = v.InferOutput<typeof SendCampaign>;

/** `POST /campaigns/{id}/test` and `POST /templates/{id}/test`. */
export const TestCampaign = v.object({
  email: EmailField,
  previewContactId: v.pipe(
    v.nullish(GivenUuid),
    v.description('The contact to fill the message in for; the one with the address of the test when absent.'),
  ),
  asSent: v.pipe(
    v.optional(v.boolean(), false),
    v.description(
      'Send exactly what recipients will get: filled in, with footer, headers and links. Its unsubscribe links change nobody.',
    ),
  ),
});
export type TestCampaign = v.InferOutput<typeof TestCampaign>;

/** `POST /campaigns/bulk-update`: one of the two modes. */
export const BulkUpdateCampaigns = v.object({
  ids: v.pipe(
    v.array(GivenUuid),
    v.minLength(1, 'must name at least one id'),
    v.maxLength(1000, 'must name at most 1000 ids'),
  ),
  delete: v.optional(v.boolean()),
  archived: v.optional(v.boolean()),
});
export type BulkUpdateCampaigns = v.InferOutput<typeof BulkUpdateCampaigns>;

nameSchemas({ Campaign: CampaignBody, CampaignWithSegment, CampaignPage });
