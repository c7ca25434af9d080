import * as v from 'valibot';
import { ConditionShape } from '../contacts/conditions.ts';
import { campaignStatuses } from '../lib/enums.ts';
import { PageFigures } from '../lib/pages.ts';
import { EmailField, withBareSender } from '../lib/validation/email-address.ts';
import {
  choice,
  choiceParameter,
  describedBy,
  directionParameter,
  field,
  GivenUuid,
  Instant,
  Integer,
  JsonObject,
  nameSchemas,
  pageParameters,
  parameter,
  Uuid,
} from '../lib/validation/fields.ts';
import { SendingHold } from '../mail/engine/breaker.ts';
import { SegmentBody } from '../segments/schema.ts';
import { contentEntries, givenContentEntries, TypeField } from '../templates/schema.ts';
import { needsContent } from '../templates/source.ts';
import { Approval, CanaryBody } from './launch.ts';

/** How a campaign's audience is chosen (docs/contract/campaigns-and-workflows.md#2-3). */
export const audienceTypes = ['ALL', 'SEGMENT', 'FILTERED'] as const;
export type AudienceType = (typeof audienceTypes)[number];

const AudienceTypeField = choice(audienceTypes);
const Name = v.pipe(v.string(), v.minLength(1, 'name must not be empty'));
const AnyObject = v.record(v.string(), v.unknown());
const AudienceCondition = describedBy(v.pipe(JsonObject), ConditionShape);

/** How a recipient has got a version: it was handed over, opened or clicked. */
const correctionReaches = ['got', 'opened', 'clicked'] as const;
/** Whom a follow-up can go to: those of a correction, and those who did nothing with what they got. */
const followUpReaches = [...correctionReaches, 'not_opened', 'not_clicked'] as const;

const ContentVersions = v.pipe(
  v.array(v.pipe(v.number(), v.integer('must be a whole number'), v.minValue(1, 'must be at least 1'))),
  v.minLength(1, 'must name at least one version'),
  v.maxLength(100, 'must name at most 100 versions'),
);

/** Who a correction goes to: recipients of certain versions of a send. */
export const Correction = v.object({
  versions: field(
    'Versions of the content whose recipients receive the correction, such as `[1]`; up to 100.',
    ContentVersions,
  ),
  who: field(
    '`got`: all recipients of these versions. `opened`, `clicked`: only those who opened the email or clicked a link in it.',
    choice(correctionReaches),
  ),
});
export type Correction = v.InferOutput<typeof Correction>;

/** Who a follow-up goes to. Whose mail bounced counts neither as `not_opened` nor as `not_clicked`. */
export const FollowUpReach = choice(followUpReaches);

/** Which recipients of an earlier campaign a correction or a follow-up goes to. */
export const EarlierRecipients = v.object({
  versions: field('Versions of the earlier campaign’s content whose recipients receive this one.', ContentVersions),
  who: field(
    'Recipients by what they did with these versions: `got`, `opened`, `clicked`, `not_opened` or `not_clicked`.',
    FollowUpReach,
  ),
});
export type EarlierRecipients = v.InferOutput<typeof EarlierRecipients>;

/** The counters of a campaign that answers show. */
export const campaignCounts = {
  totalRecipients: field(
    'Number of recipients. Estimated when the campaign is saved, and exact once sending has begun.',
    Integer,
  ),
  sentCount: field('Number of emails that the mail provider accepted.', Integer),
  deliveredCount: field('Number of emails that were reported as delivered.', Integer),
  openedCount: field('Number of emails that were opened at least once.', Integer),
  clickedCount: field('Number of emails in which at least one link was clicked.', Integer),
  bouncedCount: field('Number of emails that bounced permanently.', Integer),
  complainedCount: field('Number of emails that were reported as spam.', Integer),
  unsubscribedCount: field(
    'Number of recipients who unsubscribed by a link or button of this campaign’s email.',
    Integer,
  ),
};

/** A campaign in an answer. */
export const CampaignBody = v.object({
  id: field('ID of the campaign.', Uuid),
  ...contentEntries,
  status: field('Status of the campaign: `SENDING` also while it is paused.', v.picklist(campaignStatuses)),
  audienceType: field(
    'Audience of the campaign: `ALL` subscribed contacts, the members of a `SEGMENT`, or contacts `FILTERED` by a condition.',
    AudienceTypeField,
  ),
  // What came with another kind of audience is kept as it was, whatever it is.
  audienceCondition: field(
    'Condition that recipients must match, with the audience type `FILTERED`; null if there is none.',
    v.nullable(AnyObject),
  ),
  segmentId: field(
    'ID of the segment that receives the campaign, with the audience type `SEGMENT`; null if there is none.',
    v.nullable(Uuid),
  ),
  scheduledFor: field('When sending begins; null if the campaign is not scheduled.', v.nullable(Instant)),
  ...campaignCounts,
  archived: field('Whether the campaign is archived. Lists leave archived campaigns out by default.', v.boolean()),
  pausedAt: field('When the campaign was paused; null while it is not paused.', v.nullable(Instant)),
  pauseReason: field(
    'Why the service paused the campaign, as a code; null if a person did, and while it is not paused.',
    v.nullable(v.string()),
  ),
  resendOf: field(
    'ID of the earlier campaign whose recipients this one goes to, as a resend, a correction or a follow-up; null for other campaigns.',
    v.nullable(Uuid),
  ),
  correction: field(
    'Recipients of `resendOf` that this campaign goes to, if it is a correction or a follow-up; null for other campaigns.',
    v.nullable(EarlierRecipients),
  ),
  contentVersion: field(
    'Version of the content that the current send uses: 1, and one more for each revision.',
    Integer,
  ),
  revision: field(
    'Increases with every edit of content or audience. The `ETag` header carries the same value; send it as `If-Match` to avoid overwriting somebody else’s edit.',
    Integer,
  ),
  projectId: field('ID of the project that the campaign belongs to.', Uuid),
  sentAt: field('When sending began; null before.', v.nullable(Instant)),
  createdAt: field('When the campaign was created.', Instant),
  updatedAt: field('When the campaign last changed.', Instant),
});
export type CampaignBody = v.InferOutput<typeof CampaignBody>;

/** Recipients of a campaign who wait for the end of quiet hours. */
const HeldContacts = v.object({
  contacts: field('Number of contacts that the campaign is on hold for.', Integer),
  until: field('When the first of them can be sent to.', Instant),
});

/** A campaign with its segment, as the list, the single look-up and `send` answer it. */
export const CampaignWithSegment = v.object({
  ...CampaignBody.entries,
  segment: field('The segment in `segmentId`; null if there is none.', v.nullable(SegmentBody)),
  approval: field('The send that is waiting for an admin’s approval; null if there is none.', v.nullable(Approval)),
  held: field(
    'Why a campaign that is `SENDING` makes no progress, as a sentence for people; null while it does.',
    v.nullable(v.string()),
  ),
  hold: field(
    'Why a campaign that is `SENDING` waits for the mail provider; null while it does not.',
    v.nullable(SendingHold),
  ),
  quietHours: field(
    'Contacts for whom a campaign that is `SENDING` waits until their quiet hours end; null if there are none.',
    v.nullable(HeldContacts),
  ),
  canary: field('Canary of the current send; null if there is none.', v.nullable(CanaryBody)),
});
export type CampaignWithSegment = v.InferOutput<typeof CampaignWithSegment>;

const parts = {
  name: field('Internal name of the campaign. Recipients don’t see it.', Name),
  ...givenContentEntries,
  audienceType: field(
    'Audience of the campaign. `ALL`: all subscribed contacts. `SEGMENT`: of these, the members of `segmentId`. `FILTERED`: of these, the contacts that match `audienceCondition`.',
    AudienceTypeField,
  ),
  audienceCondition: field(
    'Condition that recipients must match. Required for `FILTERED`; ignored otherwise.',
    v.nullish(AudienceCondition),
  ),
  segmentId: field(
    'ID of the segment that receives the campaign. Required for `SEGMENT`; ignored otherwise.',
    v.nullish(GivenUuid),
  ),
};

/** `POST /campaigns`. */
export const CreateCampaign = v.pipe(
  v.object({
    ...parts,
    type: field(
      '`MARKETING`: for subscribed contacts, with an unsubscribe footer. `HEADLESS`: the same without the footer. `TRANSACTIONAL`: for all contacts, without a footer.',
      v.optional(TypeField, 'MARKETING'),
    ),
  }),
  needsContent(),
  v.transform(withBareSender),
);
export type CreateCampaign = v.InferOutput<typeof CreateCampaign>;

/** `PUT /campaigns/{id}`: what is absent stays, `null` clears. */
export const UpdateCampaign = v.pipe(
  v.partial(
    v.object({
      ...parts,
      type: field(
        'New type: `MARKETING` for subscribed contacts, with an unsubscribe footer; `HEADLESS` for the same without the footer; `TRANSACTIONAL` for all contacts, without a footer.',
        TypeField,
      ),
    }),
  ),
  v.transform(withBareSender),
);
export type UpdateCampaign = v.InferOutput<typeof UpdateCampaign>;

/** The fields that lists of campaigns can be sorted by. */
export const campaignSorts = ['name', 'subject', 'status', 'scheduledFor', 'sentAt', 'createdAt', 'updatedAt'] as const;

/** `GET /campaigns`; an unknown sort or direction falls back to the default. */
export const ListCampaigns = v.object({
  ...pageParameters(1000),
  status: choiceParameter('Campaigns with this status; all when absent.', campaignStatuses),
  search: parameter('Text in the name, subject or sender, in any letter case.'),
  archived: parameter('`true` lists archived campaigns only; otherwise they are left out.', {
    type: 'boolean',
    default: false,
  }),
  sort: choiceParameter('Field to sort by.', campaignSorts, 'createdAt'),
  dir: directionParameter,
});
export type ListCampaigns = v.InferOutput<typeof ListCampaigns>;

/** A page of campaigns. */
export const CampaignPage = v.object({
  data: field('Campaigns on this page.', v.array(CampaignWithSegment)),
  ...PageFigures.entries,
  archivedCount: field('Number of archived campaigns in the project.', Integer),
});

/** Contacts that an audience has. */
export const AudienceCount = v.object({
  recipients: field('Number of contacts that would receive the campaign if it were sent now.', Integer),
  unsubscribed: field('Number of contacts in the audience that are left out because they are not subscribed.', Integer),
});

/** `POST /campaigns/{id}/test` and `POST /templates/{id}/test`. */
export const TestCampaign = v.object({
  email: field('Address that receives the test: a member of the project, or one of its test addresses.', EmailField),
  previewContactId: field(
    'ID of the contact whose data fills in the variables. When absent, the contact with the address in `email`, if there is one.',
    v.nullish(GivenUuid),
  ),
  asSent: field(
    'Whether to send exactly what recipients get, with footer, headers and links. Its unsubscribe links don’t change any contact.',
    v.optional(v.boolean(), false),
  ),
});
export type TestCampaign = v.InferOutput<typeof TestCampaign>;

/** `POST /campaigns/bulk-update`: one of the two modes. */
export const BulkUpdateCampaigns = v.object({
  ids: field(
    'IDs of the campaigns to change, 1 to 1,000. All of them are changed, or none.',
    v.pipe(
      v.array(GivenUuid),
      v.minLength(1, 'must name at least one id'),
      v.maxLength(1000, 'must name at most 1000 ids'),
    ),
  ),
  delete: field(
    '`true` deletes the campaigns, which must all be drafts. It cannot be combined with `archived`.',
    v.optional(v.boolean()),
  ),
  archived: field(
    '`true` archives the campaigns, `false` unarchives them. It cannot be combined with `delete`.',
    v.optional(v.boolean()),
  ),
});
export type BulkUpdateCampaigns = v.InferOutput<typeof BulkUpdateCampaigns>;

nameSchemas({ Campaign: CampaignBody, CampaignWithSegment, CampaignPage, CampaignAudienceCount: AudienceCount });
