import * as v from 'valibot';
import { field, Instant, Integer, nameSchemas, Uuid } from '../../lib/validation/fields.ts';
import { problemKinds } from './findings.ts';

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

const Example = v.object({
  contactId: field('ID of the contact.', Uuid),
  email: field('Address of the contact.', v.string()),
});
const Examples = v.array(Example);

/** A dry run: how far it is, and once it is DONE what it found. */
export const DryRunReport = v.object({
  n: field('Number of the dry run, counting from 1 for each campaign.', Integer),
  state: field('`RUNNING`, then `DONE` or `FAILED`.', v.picklist(['RUNNING', 'DONE', 'FAILED'])),
  failedReason: field('Why the dry run failed; null unless it did.', v.nullable(v.string())),
  progress: field('Share of the audience that has been checked, in percent; 100 when it is done.', Integer),
  sample: field(
    'Number of messages that were requested to be rendered, or `all`.',
    v.union([v.literal('all'), Integer]),
  ),
  rendered: field('Number of messages rendered so far. `missing` and `problems` count among these.', Integer),
  audience: field('Number of contacts checked so far.', Integer),
  wouldSend: field('Number of emails that would be sent.', Integer),
  leftOut: field(
    'Contacts that would not receive the campaign, by reason, most frequent first.',
    v.array(
      v.object({
        reason: field('Why the contacts would be left out, such as `Contact is unsubscribed`.', v.string()),
        count: field('Number of contacts with this reason.', Integer),
      }),
    ),
  ),
  missing: field(
    'Variables that the content uses and contacts lack, most frequent first; up to 50.',
    v.array(
      v.object({
        variable: field('The variable as the content names it.', v.string()),
        contacts: field('Number of contacts that lack it.', Integer),
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
        count: field('Number of messages with this problem.', Integer),
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
        count: field('Number of emails that would go to it.', Integer),
      }),
    ),
  ),
  takes: field('Shortest time that sending would take, in seconds.', Integer),
  room: field(
    'The project’s monthly limit that the send counts against.',
    v.object({
      limit: field('Emails allowed per month; null without a limit.', v.nullable(Integer)),
      left: field('Emails still allowed this month; null without a limit.', v.nullable(Integer)),
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

nameSchemas({ CampaignDryRun: DryRunReport });
