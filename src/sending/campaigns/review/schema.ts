import { nameSchemas } from '@fernpost/openapi/names';
import { Instant, Uuid } from '@fernpost/validation';
import * as v from 'valibot';
import { Actor } from '../../../platform/audit/index.ts';
import { problemKinds } from './findings.ts';

const Fingerprint = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'must be the fingerprint of a dry run'));

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

const mostSampled = 1_000_000;
const allowedSample = `must be all or a whole number from 1 to ${mostSampled}`;

/** `POST /campaigns/{id}/dry-run`. */
export const StartDryRun = v.object({
  sample: v.pipe(
    v.optional(
      v.union(
        [
          v.literal('all'),
          v.pipe(
            v.number(),
            v.integer(allowedSample),
            v.minValue(1, allowedSample),
            v.maxValue(mostSampled, allowedSample),
          ),
        ],
        allowedSample,
      ),
      'all',
    ),
    v.description(
      'How many messages are rendered: `all`, or a number of them spread over the audience. Every contact is checked either way.',
    ),
  ),
});
export type StartDryRun = v.InferOutput<typeof StartDryRun>;

/** What a send says of its review. */
export const reviewedSend = {
  fingerprint: v.pipe(
    v.nullish(Fingerprint),
    v.description(
      'That of a dry run: the send is refused where the campaign is not as it was reviewed. Absent keeps the review of a scheduled campaign, null removes it.',
    ),
  ),
  drift: v.optional(
    v.pipe(
      Drift,
      v.description(
        'How far the audience may have changed since the dry run, with its `fingerprint`; `none` when absent.',
      ),
    ),
  ),
};

/** `POST /campaigns/{id}/approve`. */
export const ApproveSend = v.object({
  fingerprint: v.pipe(Fingerprint, v.description('That of the waiting review: what was seen is what is approved.')),
});

/** A send that waits for somebody to approve it. */
export const Approval = v.object({
  state: v.picklist(['PENDING']),
  fingerprint: v.string(),
  /** Number of the dry run. */
  review: v.number(),
  recipients: v.number(),
  drift: Drift,
  scheduledFor: v.nullable(Instant),
  requestedBy: Actor,
  requestedAt: Instant,
  expiresAt: Instant,
});
export type Approval = v.InferOutput<typeof Approval>;

const Example = v.object({ contactId: Uuid, email: v.string() });
const Examples = v.array(Example);

/** A dry run: how far it is, and once it is DONE what it found. */
export const DryRunReport = v.object({
  n: v.number(),
  state: v.picklist(['RUNNING', 'DONE', 'FAILED']),
  failedReason: v.nullable(v.string()),
  /** Percentage of the contacts that were expected; 100 when it is done. */
  progress: v.number(),
  sample: v.pipe(
    v.union([v.literal('all'), v.number()]),
    v.description('How many messages were asked to be rendered.'),
  ),
  rendered: v.pipe(v.number(), v.description('Messages rendered so far. `missing` and `problems` count among these.')),
  audience: v.number(),
  wouldSend: v.number(),
  leftOut: v.array(v.object({ reason: v.string(), count: v.number() })),
  missing: v.array(v.object({ variable: v.string(), contacts: v.number(), examples: Examples })),
  problems: v.array(v.object({ kind: v.picklist(problemKinds), count: v.number(), example: v.nullable(Example) })),
  byProvider: v.array(v.object({ domain: v.string(), count: v.number() })),
  takes: v.number(),
  room: v.object({ limit: v.nullable(v.number()), left: v.nullable(v.number()) }),
  samples: v.array(
    v.object({
      contactId: Uuid,
      email: v.string(),
      subject: v.string(),
      html: v.string(),
      text: v.nullable(v.string()),
    }),
  ),
  fingerprint: v.nullable(v.string()),
  changed: v.array(v.string()),
  createdAt: Instant,
  finishedAt: v.nullable(Instant),
  expiresAt: Instant,
});
export type DryRunReport = v.InferOutput<typeof DryRunReport>;

nameSchemas({ CampaignDryRun: DryRunReport, CampaignApproval: Approval });
