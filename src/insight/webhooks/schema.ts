import * as v from 'valibot';
import { CursorParameter } from '../../lib/pages.ts';
import {
  choice,
  coded,
  field,
  GivenInstant,
  Instant,
  Integer,
  limitParameter,
  nameSchemas,
  textField,
  Uuid,
  wholeNumber,
} from '../../lib/validation/fields.ts';

/** The content of a delivery: the whole event, or only the IDs to read it by. */
export const payloadKinds = ['full', 'thin'] as const;
/** ENABLED is called; PAUSED waits for a person; DISABLED was given up by the service, for `disabledReason`. */
export const endpointStatuses = ['ENABLED', 'PAUSED', 'DISABLED'] as const;
/** The states of a delivery. */
export const deliveryStatuses = ['PENDING', 'DELIVERED', 'FAILED'] as const;

/** What a replay delivers again: all events of its span, or only those that used up their attempts. */
export const replayKinds = ['failed', 'all'] as const;

const EventPattern = v.pipe(
  textField('an event', 1, 255),
  coded(
    'invalid_string',
    (name) => !name.includes('*') || name === '*' || (name.endsWith('.*') && name.indexOf('*') === name.length - 1),
    'must be the name of an event, a prefix such as "contact.*", or "*"',
  ),
);
const Events = v.pipe(
  v.array(EventPattern, 'must be an array of event names'),
  v.minLength(1, 'must name at least one event'),
  v.maxLength(50, 'must have at most 50 items'),
);
const Url = textField('url', 1, 2048);
const Description = v.nullish(textField('description', 0, 500));
/** `POST /webhook-endpoints`. */
export const CreateEndpoint = v.object({
  url: field(
    'URL to call, 1 to 2,048 characters. It must use https, except for hosts in WEBHOOK_ALLOWED_HOSTS and `localhost` on your own machine.',
    Url,
  ),
  description: field('Description of the endpoint, up to 500 characters; null or absent for none.', Description),
  events: field('Events to deliver, 1 to 50: names, prefixes such as `contact.*`, or `*` for all.', Events),
  from: field(
    'First events to deliver: `now`, or an ISO 8601 instant at most 30 days ago.',
    v.optional(v.string(), 'now'),
  ),
  payload: field(
    'What a call carries: `full` for the whole event, `thin` to leave its data out.',
    v.optional(choice(payloadKinds), 'full'),
  ),
  ordered: field(
    'Whether events are delivered one at a time, each after the previous one was accepted.',
    v.optional(v.boolean(), false),
  ),
});
export type CreateEndpoint = v.InferOutput<typeof CreateEndpoint>;

/** `PATCH /webhook-endpoints/{id}`. */
export const PatchEndpoint = v.object({
  url: field('New URL to call, 1 to 2,048 characters.', v.optional(Url)),
  description: field('New description, up to 500 characters; null removes it.', Description),
  events: field(
    'New list of events, 1 to 50: names, prefixes such as `contact.*`, or `*` for all.',
    v.optional(Events),
  ),
  payload: field(
    'What calls carry from now on: `full` for the whole event, `thin` to leave its data out.',
    v.optional(choice(payloadKinds)),
  ),
  ordered: field(
    'Whether events are delivered one at a time, each after the previous one was accepted.',
    v.optional(v.boolean()),
  ),
  paused: field(
    '`true` pauses the endpoint. `false` resumes it, also if it was disabled; deliveries continue where they stopped.',
    v.optional(v.boolean()),
  ),
});
export type PatchEndpoint = v.InferOutput<typeof PatchEndpoint>;

/** Deliveries of the events of one hour, by status. */
const HealthHour = v.object({
  at: field('When the hour begins.', Instant),
  delivered: field('Number of events of this hour that were delivered.', Integer),
  failed: field('Number of events of this hour that used up their attempts.', Integer),
  pending: field('Number of events of this hour that are not delivered yet.', Integer),
});

/** `GET /webhook-endpoints`. */
export const ListEndpoints = v.object({
  include: field(
    '`health` adds the deliveries of the last 24 hours by hour.',
    v.optional(v.picklist(['health'], 'must be health')),
  ),
});

/** A webhook endpoint in an answer. */
export const EndpointBody = v.object({
  id: field('ID of the endpoint.', Uuid),
  url: field('URL that is called.', v.string()),
  description: field('Description of the endpoint; null if there is none.', v.nullable(v.string())),
  events: field('Events that are delivered: names, prefixes such as `contact.*`, or `*` for all.', v.array(v.string())),
  payload: field(
    'What a call carries: `full` for the whole event, `thin` to leave its data out.',
    v.picklist(payloadKinds),
  ),
  ordered: field('Whether events are delivered one at a time, each after the previous one was accepted.', v.boolean()),
  status: field(
    '`ENABLED`; `PAUSED` by a person; or `DISABLED` by the service, for `disabledReason`.',
    v.picklist(endpointStatuses),
  ),
  disabledReason: field('Why the service disabled the endpoint; null unless it did.', v.nullable(v.string())),
  lastSequence: field('Number of events queued for the endpoint so far.', Integer),
  failingSince: field('Time from which on all calls have failed; null while calls succeed.', v.nullable(Instant)),
  restingUntil: field(
    'When the endpoint is called again, after it asked to wait (429, 502, 503, 504 or `Retry-After`); null while it is not resting.',
    v.nullable(Instant),
  ),
  health: field(
    'Deliveries by the hour of their event in the last 24 hours, oldest first. Only with `include=health`.',
    v.optional(v.array(HealthHour)),
  ),
  createdAt: field('When the endpoint was created.', Instant),
  updatedAt: field('When the endpoint last changed.', Instant),
});
export type EndpointBody = v.InferOutput<typeof EndpointBody>;

/** The answer that shows the signing secret, once. */
export const EndpointWithSecret = v.object({
  ...EndpointBody.entries,
  secret: field('Secret that signs the calls, as base64 with the prefix `whsec_`. It is not shown again.', v.string()),
});

/** `POST /webhook-endpoints/{id}/rotate-secret`. */
export const RotateSecret = v.object({
  overlapHours: field(
    'Hours for which calls carry a signature of the previous secret too, 0 to 72.',
    v.optional(wholeNumber(0, 72), 24),
  ),
});

/** `POST /webhook-endpoints/{id}/test`. */
export const TestEndpoint = v.object({
  type: field(
    'Name of the event to call the endpoint with, 1 to 255 characters.',
    v.optional(textField('type', 1, 255), 'test.event'),
  ),
});

/** How a call went. */
export const AttemptBody = v.object({
  at: field('When the endpoint was called.', Instant),
  statusCode: field('HTTP status of the response; null if there was none.', v.nullable(Integer)),
  ms: field('Duration of the call, in milliseconds.', Integer),
  answer: field('First 4 KB of the response body; null if there was no response.', v.nullable(v.string())),
  error: field('Why there was no response; null if there was one.', v.nullable(v.string())),
});
export type AttemptBody = v.InferOutput<typeof AttemptBody>;

/** The result of a test call. */
export const TestedEndpoint = v.object({
  ...AttemptBody.entries,
  delivered: field('Whether the endpoint accepted the call with a 2xx status.', v.boolean()),
  webhookId: field('`webhook-id` of the call.', v.string()),
});

/** `POST /webhook-endpoints/{id}/replay`. */
export const ReplayEvents = v.object({
  since: field('Start of the period to deliver again, as an ISO 8601 instant.', GivenInstant),
  until: field('End of the period, as an ISO 8601 instant; now when absent.', v.optional(GivenInstant)),
  events: field(
    'Events to deliver again: names, prefixes or `*`; those of the endpoint when absent.',
    v.optional(Events),
  ),
  only: field(
    '`failed` delivers only events that used up their attempts, `all` every event of the period.',
    v.optional(v.picklist(replayKinds, 'must be one of failed, all'), 'all'),
  ),
});
export type ReplayEvents = v.InferOutput<typeof ReplayEvents>;

/** A replay in an answer. */
export const ReplayBody = v.object({
  id: field('ID of the replay.', Uuid),
  since: field('Start of the period.', Instant),
  until: field('End of the period.', Instant),
  events: field('Events that are delivered again: names, prefixes or `*`.', v.array(v.string())),
  only: field(
    '`failed` if only events that used up their attempts are delivered again; otherwise `all`.',
    v.picklist(replayKinds),
  ),
  status: field('`RUNNING`, then `DONE` once all events are queued.', v.picklist(['RUNNING', 'DONE'])),
  requeued: field('Number of events queued again so far.', Integer),
  createdAt: field('When the replay was requested.', Instant),
});
export type ReplayBody = v.InferOutput<typeof ReplayBody>;

/** `GET /webhook-endpoints/{id}/deliveries`. */
export const ListDeliveries = v.object({
  status: field('Deliveries with this status; all when absent.', v.optional(choice(deliveryStatuses))),
  type: field('Deliveries of this event: a name, a prefix such as `contact.*`, or `*`.', v.optional(EventPattern)),
  limit: limitParameter(20, 100),
  cursor: CursorParameter,
});
export type ListDeliveries = v.InferOutput<typeof ListDeliveries>;

/** A delivery in an answer. */
export const DeliveryBody = v.object({
  eventId: field('ID of the event.', Uuid),
  webhookId: field('`webhook-id` of the calls, the same for every attempt.', v.string()),
  sequence: field(
    'Number of the event among those of the endpoint, without gaps; `webhook-sequence` of the calls.',
    Integer,
  ),
  type: field('Name of the event.', v.string()),
  eventAt: field('When the event happened.', Instant),
  status: field('`PENDING`, `DELIVERED`, or `FAILED` once all attempts are used up.', v.picklist(deliveryStatuses)),
  attempts: field('Number of attempts so far.', Integer),
  nextAttemptAt: field('When the next attempt is due; null if there is none.', v.nullable(Instant)),
});
export type DeliveryBody = v.InferOutput<typeof DeliveryBody>;

/** A page of deliveries, the latest first. */
export const DeliveriesPage = v.object({
  data: field('Deliveries on this page, newest first.', v.array(DeliveryBody)),
  cursor: field('Pass it as `cursor` to get the next page; null on the last page.', v.nullable(v.string())),
  hasMore: field(
    'Whether there is another page. With `type`, a page may be short or even empty although there is one.',
    v.boolean(),
  ),
});

/** A delivery with its calls, the oldest first. */
export const DeliveryWithAttempts = v.object({
  ...DeliveryBody.entries,
  body: field('Body of the calls; null when the event was deleted.', v.nullable(v.string())),
  log: field('Attempts, oldest first.', v.array(AttemptBody)),
});

/** `GET /webhook-endpoints/{id}/audit`. */
export const AuditSpan = v.object({
  from: field(
    'Start of the period to compare, as an ISO 8601 instant; 31 days ago at the earliest, and when absent.',
    v.optional(GivenInstant),
  ),
  until: field('End of the period to compare, as an ISO 8601 instant; now when absent.', v.optional(GivenInstant)),
});
export type AuditSpan = v.InferOutput<typeof AuditSpan>;

/** Events of a span compared with what was delivered of them. */
export const EndpointAudit = v.object({
  from: field(
    'Start of the period that was compared: at most 31 days ago, and not before the endpoint’s `events` last changed.',
    Instant,
  ),
  until: field('End of the period that was compared: up to the latest event that was queued.', Instant),
  events: field('Number of events in the period that the endpoint subscribes to.', Integer),
  delivered: field('Number of these that were delivered.', Integer),
  failed: field('Number of these that used up their attempts.', Integer),
  pending: field('Number of these that are not delivered yet.', Integer),
  addsUp: field('Whether every event of the period was queued for the endpoint.', v.boolean()),
  firstSequence: field('Sequence of the first event of the period; null if there is none.', v.nullable(Integer)),
  lastSequence: field('Sequence of the last event of the period; null if there is none.', v.nullable(Integer)),
});
export type EndpointAudit = v.InferOutput<typeof EndpointAudit>;

nameSchemas({
  WebhookEndpoint: EndpointBody,
  WebhookEndpointWithSecret: EndpointWithSecret,
  WebhookDelivery: DeliveryBody,
  WebhookDeliveryWithAttempts: DeliveryWithAttempts,
  WebhookAttempt: AttemptBody,
  WebhookReplay: ReplayBody,
  WebhookEndpointAudit: EndpointAudit,
  WebhookDeliveriesPage: DeliveriesPage,
});
