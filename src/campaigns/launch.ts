import * as v from 'valibot';
import { field, Instant, Integer, nameSchemas } from '../lib/validation/fields.ts';
import { Actor } from '../projects/audit/queries.ts';
import type { Database } from '../store/sql.ts';
import type { AudienceCursor } from './audience/cursor.ts';
import type { ExpandedCampaign, PageOfContacts } from './audience/expansion.ts';
import type { Campaign } from './entity.ts';
import type { DueCampaign } from './lifecycle/begin.ts';

const allowedDrift = 'must be none, fewer or a share between 0 and 1';

/**
 * How far the audience may have changed since its review. `none`: it is sent to exactly those who were reviewed. `fewer`: nobody
 * may have joined. A number: the share of the audience that may have joined or left, 0 to 1.
 */
export const Drift = v.union(
  [v.literal('none'), v.literal('fewer'), v.pipe(v.number(), v.minValue(0, allowedDrift), v.maxValue(1, allowedDrift))],
  allowedDrift,
);
export type Drift = v.InferOutput<typeof Drift>;

/** A send that waits for somebody to approve it. */
export const Approval = v.object({
  state: field('Always `PENDING`.', v.picklist(['PENDING'])),
  fingerprint: field(
    'Fingerprint of the dry run that was reviewed. Pass it to `POST /campaigns/{id}/approve`.',
    v.string(),
  ),
  review: field('Number of the dry run that was reviewed.', Integer),
  recipients: field('Number of contacts that would receive the campaign, as reviewed.', Integer),
  drift: field(
    'How far the audience may have changed since the review: `none`, `fewer`, or a share from 0 to 1.',
    Drift,
  ),
  scheduledFor: field('When the campaign is to be sent; null for immediately after approval.', v.nullable(Instant)),
  requestedBy: field('Actor that requested the send. They cannot approve it themselves.', Actor),
  requestedAt: field('When the send was requested.', Instant),
  expiresAt: field('When the review expires, and the request with it.', Instant),
});
export type Approval = v.InferOutput<typeof Approval>;

/** The states of a canary; a person's `releasedAt` says why one has passed without its hold. */
export const canaryStates = ['WAITING', 'SENDING', 'HOLDING', 'STOPPED', 'PASSED'] as const;
export type CanaryState = (typeof canaryStates)[number];

/** Why a canary paused its campaign. */
export const canaryStopCodes = [
  'canary_bounce_rate',
  'canary_complaint_rate',
  'canary_unsubscribe_rate',
  'canary_too_few_delivered',
] as const;

/** The canary of a campaign's current send. */
export const CanaryBody = v.object({
  state: field(
    '`WAITING` for the audience, `SENDING` the slice, `HOLDING` until its reports are in, `STOPPED` with the campaign paused, or `PASSED`.',
    v.picklist(canaryStates),
  ),
  recipients: field('Number of contacts in the slice.', Integer),
  hold: field('How long to wait for reports once the slice is sent, such as `60m`.', v.string()),
  stopIf: field(
    'Rates of the slice above which the campaign is paused.',
    v.object({
      bounceRate: field('Highest permanent bounce rate, in percent; null for no limit.', v.nullable(v.number())),
      complaintRate: field('Highest spam complaint rate, in percent; null for no limit.', v.nullable(v.number())),
      unsubscribeRate: field('Highest unsubscribe rate, in percent; null for no limit.', v.nullable(v.number())),
    }),
  ),
  minDelivered: field(
    'The campaign is paused if fewer emails than this are delivered by the end of the hold.',
    Integer,
  ),
  heldUntil: field('When the hold ends; null before and after it.', v.nullable(Instant)),
  releasedAt: field('When somebody ended the hold early; null if nobody did.', v.nullable(Instant)),
  endedAt: field('When the canary passed or paused the campaign; null before.', v.nullable(Instant)),
  counts: field(
    'What happened to the emails of the slice.',
    v.object({
      pending: field('Emails not sent yet, or not confirmed by the mail provider.', Integer),
      mailed: field('Emails that the mail provider accepted, or refused for an earlier bounce.', Integer),
      delivered: field('Emails reported as delivered.', Integer),
      bounced: field('Emails that bounced permanently.', Integer),
      complained: field('Emails reported as spam.', Integer),
      unsubscribed: field('Recipients who unsubscribed by this email.', Integer),
    }),
  ),
  stopped: field(
    'Why the canary paused the campaign; null if it did not.',
    v.nullable(
      v.object({
        code: field(
          'Limit that was broken: `canary_bounce_rate`, `canary_complaint_rate`, `canary_unsubscribe_rate` or `canary_too_few_delivered`.',
          v.picklist(canaryStopCodes),
        ),
        count: field(
          'Number of emails that bounced, were reported, led to an unsubscribe or were delivered, depending on `code`.',
          Integer,
        ),
        of: field('Number of emails of the slice that `count` is compared with.', Integer),
        limit: field('Percentage that was exceeded, or number of deliveries that was not reached.', v.number()),
      }),
    ),
  ),
});
export type CanaryBody = v.InferOutput<typeof CanaryBody>;

export type CanaryCounts = CanaryBody['counts'];
export type CanaryStop = NonNullable<CanaryBody['stopped']>;

nameSchemas({ CampaignApproval: Approval, CampaignCanary: CanaryBody });

declare module '../http/context.ts' {
  interface App {
    launchGate: LaunchGate;
  }
}

/**
 * The decisions of launches (reviews, approvals, canaries) that a campaign meets on its way. Launches stand above campaigns and begin sends
 * themselves; this is all that campaigns ask of them. `src/main` hands it to the API and to workers.
 */
export interface LaunchGate {
  /** Returns how many contacts a scheduled campaign goes to now that its time has come, or why it cannot be sent, as a sentence. */
  before(tx: Database, campaign: DueCampaign, now: Date): Promise<number | string>;
  /** Returns the reviewed contacts of a send page by page, beside `current`, its audience as it is now. */
  reviewed(db: Database, send: ReviewedSend, current: AudienceCursor, size: number): ReviewedContacts;
  /** Notes that somebody lets a locked send go on. */
  resumed(tx: Database, campaignId: string, sendSeq: number): Promise<void>;
  /** Returns by ID what campaigns are shown with; nothing for those without an approval or a canary. */
  shown(db: Database, campaigns: readonly Pick<Campaign, 'id' | 'status'>[]): Promise<ReadonlyMap<string, LaunchShown>>;
}

/** A send to exactly the contacts of a review. */
export type ReviewedSend = ExpandedCampaign & { reviewId: string };

/** Reads the contacts of a review in the order of their IDs. */
export interface ReviewedContacts {
  /** Returns the next page after a contact; null for the first. */
  next(after: string | null): Promise<PageOfContacts>;
}

/** The launch of a campaign as the campaign shows it. */
export interface LaunchShown {
  approval: Approval | null;
  canary: CanaryBody | null;
  /** Why the canary holds the campaign back, as a sentence; null while it does not. */
  held: string | null;
}
