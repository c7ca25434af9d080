import * as v from 'valibot';
import { field, Instant, nameSchemas, Uuid } from '../../lib/validation/fields.ts';
import { Actor } from '../../projects/audit/queries.ts';
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
  sample: field(
    'Messages to render: `all`, or a number from 1 to 1,000,000 spread over the audience. Every contact is checked either way.',
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
  ),
});
export type StartDryRun = v.InferOutput<typeof StartDryRun>;

/** What a send says of its review. */
export const reviewedSend = {
  fingerprint: field(
    'Fingerprint of a dry run. The send is refused if the campaign has changed since that review. Absent keeps the review of a scheduled campaign; null removes it.',
    v.nullish(Fingerprint),
  ),
  drift: field(
    'How far the audience may have changed since the dry run. `none`: exactly the reviewed contacts. `fewer`: nobody may have joined. A number from 0 to 1: the share of the audience that may have joined or left. Needs a `fingerprint`; `none` when absent.',
    v.optional(Drift),
  ),
};

/** `POST /campaigns/{id}/approve`. */
export const ApproveSend = v.object({
  fingerprint: field('Fingerprint of the review that is waiting for approval.', Fingerprint),
});

/** A send that waits for somebody to approve it. */
export const Approval = v.object({
  state: field('Always `PENDING`.', v.picklist(['PENDING'])),
  fingerprint: field(
    'Fingerprint of the dry run that was reviewed. Pass it to `POST /campaigns/{id}/approve`.',
    v.string(),
  ),
  review: field('Number of the dry run that was reviewed.', v.number()),
  recipients: field('Number of contacts that would receive the campaign, as reviewed.', v.number()),
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

const Example = v.object({
  contactId: field('ID of the contact.', Uuid),
  email: field('Address of the contact.', v.string()),
});
const Examples = v.array(Example);

/** A dry run: how far it is, and once it is DONE what it found. */
export const DryRunReport = v.object({
  n: field('Number of the dry run, counting from 1 for each campaign.', v.number()),
  state: field('`RUNNING`, then `DONE` or `FAILED`.', v.picklist(['RUNNING', 'DONE', 'FAILED'])),
  failedReason: field('Why the dry run failed; null unless it did.', v.nullable(v.string())),
  progress: field('Share of the audience that has been checked, in percent; 100 when it is done.', v.number()),
  sample: field(
    'Number of messages that were requested to be rendered, or `all`.',
    v.union([v.literal('all'), v.number()]),
  ),
  rendered: field('Number of messages rendered so far. `missing` and `problems` count among these.', v.number()),
  audience: field('Number of contacts checked so far.', v.number()),
  wouldSend: field('Number of emails that would be sent.', v.number()),
  leftOut: field(
    'Contacts that would not receive the campaign, by reason, most frequent first.',
    v.array(
      v.object({
        reason: field('Why the contacts would be left out, such as `Contact is unsubscribed`.', v.string()),
        count: field('Number of contacts with this reason.', v.number()),
      }),
    ),
  ),
  missing: field(
    'Variables that the content uses and contacts lack, most frequent first; up to 50.',
    v.array(
      v.object({
        variable: field('The variable as the content names it.', v.string()),
        contacts: field('Number of contacts that lack it.', v.number()),
        examples: field('Up to three contacts that lack it.', Examples),
      }),
    ),
  ),
  problems: field(
    'Problems found in rendered messages.',
    v.array(
      v.object({
        kind: field(
          '`clipped`: Gmail cuts off HTML above 102 KB. `empty link`: a link without an address. `http image`: an image without TLS. `no text`: no plain-text part. `render`: the message could not be rendered, or only without Liquid.',
          v.picklist(problemKinds),
        ),
        count: field('Number of messages with this problem.', v.number()),
        example: field(
          'A contact whose message has the problem; null if that contact no longer exists.',
          v.nullable(Example),
        ),
      }),
    ),
  ),
  byProvider: field(
    'The 20 recipient domains with the most emails.',
    v.array(
      v.object({
        domain: field('Domain of the recipients’ addresses.', v.string()),
        count: field('Number of emails that would go to it.', v.number()),
      }),
    ),
  ),
  takes: field('Shortest time that sending would take, in seconds.', v.number()),
  room: field(
    'The project’s monthly limit that the send counts against.',
    v.object({
      limit: field('Emails allowed per month; null without a limit.', v.nullable(v.number())),
      left: field('Emails still allowed this month; null without a limit.', v.nullable(v.number())),
    }),
  ),
  samples: field(
    'Messages as up to ten contacts would receive them, those with problems first. Empty once the campaign has been changed.',
    v.array(
      v.object({
        contactId: field('ID of the contact.', Uuid),
        email: field('Address of the contact.', v.string()),
        subject: field('Subject line as this contact would receive it.', v.string()),
        html: field('HTML as this contact would receive it.', v.string()),
        text: field('Plain-text part as this contact would receive it; null if there is none.', v.nullable(v.string())),
      }),
    ),
  ),
  fingerprint: field(
    'Identifies exactly this content, these settings and this audience. Pass it to `POST /campaigns/{id}/send`. Null until the dry run is done.',
    v.nullable(v.string()),
  ),
  changed: field(
    'Fields of content, audience and settings that have changed since the dry run; empty while it is valid.',
    v.array(v.string()),
  ),
  createdAt: field('When the dry run was started.', Instant),
  finishedAt: field('When the dry run ended; null while it runs.', v.nullable(Instant)),
  expiresAt: field('When the dry run expires: the campaign can be sent with its fingerprint until then.', Instant),
});
export type DryRunReport = v.InferOutput<typeof DryRunReport>;

nameSchemas({ CampaignDryRun: DryRunReport, CampaignApproval: Approval });
