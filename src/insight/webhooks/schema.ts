import { nameSchemas } from '@fernpost/openapi/names';
import {
  choice,
  coded,
  GivenInstant,
  Instant,
  limitParameter,
  textField,
  Uuid,
  wholeNumber,
} from '@fernpost/validation';
import * as v from 'valibot';
import { CursorParameter } from '../../core/lib/cursor.ts';

/** What a delivery carries: the whole event, or what is needed to look it up. */
export const payloadKinds = ['full', 'thin'] as const;
/** ENABLED is called; PAUSED waits for a person; DISABLED was given up by the service, for `disabledReason`. */
export const endpointStatuses = ['ENABLED', 'PAUSED', 'DISABLED'] as const;
/** The states of a delivery. */
const deliveryStatuses = ['PENDING', 'DELIVERED', 'FAILED'] as const;

const EventPattern = v.pipe(
  textField('an event', 1, 255),
  coded(
    'invalid_string',
    (name) => !name.includes('*') || name === '*' || (name.endsWith('.*') && name.indexOf('*') === name.length - 1),
    'must be the name of an event, a prefix such as "contact.*", or "*"',
  ),
  v.description('The name of an event, `contact.*` for all that start with `contact.`, or `*` for every event.'),
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
  url: v.pipe(
    Url,
    v.description(
      'An https address. http works for hosts in WEBHOOK_ALLOWED_HOSTS only: on your own machine, for `localhost`.',
    ),
  ),
  description: Description,
  events: Events,
  from: v.optional(
    v.pipe(
      v.string(),
      v.description('`now`, or the ISO instant whose events come first, at most 30 days ago. `now` when absent.'),
    ),
    'now',
  ),
  payload: v.optional(choice(payloadKinds), 'full'),
  ordered: v.optional(
    v.pipe(v.boolean(), v.description('Deliver one event at a time, each after the previous one was accepted.')),
    false,
  ),
});
export type CreateEndpoint = v.InferOutput<typeof CreateEndpoint>;

/** `PATCH /webhook-endpoints/{id}`. */
export const PatchEndpoint = v.object({
  url: v.optional(Url),
  description: Description,
  events: v.optional(Events),
  payload: v.optional(choice(payloadKinds)),
  ordered: v.optional(v.boolean()),
  paused: v.optional(
    v.pipe(
      v.boolean(),
      v.description('`false` also enables an endpoint that was disabled; deliveries resume where they stopped.'),
    ),
  ),
});
export type PatchEndpoint = v.InferOutput<typeof PatchEndpoint>;

/** What became of the events of one hour. */
const HealthHour = v.object({ at: Instant, delivered: v.number(), failed: v.number(), pending: v.number() });

/** `GET /webhook-endpoints`. */
export const ListEndpoints = v.object({
  include: v.optional(v.picklist(['health'], 'must be health')),
});

/** A webhook endpoint in an answer. */
export const EndpointBody = v.object({
  id: Uuid,
  url: v.string(),
  description: v.nullable(v.string()),
  events: v.array(v.string()),
  payload: v.picklist(payloadKinds),
  ordered: v.boolean(),
  status: v.picklist(endpointStatuses),
  disabledReason: v.nullable(v.string()),
  lastSequence: v.pipe(v.number(), v.description('How many events were queued for this endpoint so far.')),
  failingSince: v.nullable(Instant),
  restingUntil: v.pipe(
    v.nullable(Instant),
    v.description('The endpoint asked to wait (429, 502, 503, 504 or Retry-After); it is called again after this.'),
  ),
  health: v.optional(
    v.pipe(
      v.array(HealthHour),
      v.description('With `include=health`: deliveries by the hour of their event in the last 24 hours, oldest first.'),
    ),
  ),
  createdAt: Instant,
  updatedAt: Instant,
});
export type EndpointBody = v.InferOutput<typeof EndpointBody>;

/** The answer that shows the signing secret, once. */
export const EndpointWithSecret = v.object({ ...EndpointBody.entries, secret: v.string() });

/** `POST /webhook-endpoints/{id}/rotate-secret`. */
export const RotateSecret = v.object({ overlapHours: v.optional(wholeNumber(0, 72), 24) });

/** `POST /webhook-endpoints/{id}/test`. */
export const TestEndpoint = v.object({ type: v.optional(textField('type', 1, 255), 'test.event') });

/** How a call went. */
export const AttemptBody = v.object({
  at: Instant,
  statusCode: v.nullable(v.number()),
  ms: v.number(),
  answer: v.pipe(v.nullable(v.string()), v.description('The first 4 KB of the answer.')),
  error: v.pipe(v.nullable(v.string()), v.description('Why there was no answer.')),
});
export type AttemptBody = v.InferOutput<typeof AttemptBody>;

/** The result of a test call. */
export const TestedEndpoint = v.object({ ...AttemptBody.entries, delivered: v.boolean(), webhookId: v.string() });

/** `POST /webhook-endpoints/{id}/replay`. */
export const ReplayEvents = v.object({
  since: GivenInstant,
  until: v.optional(GivenInstant),
  events: v.optional(Events),
  only: v.optional(v.picklist(['failed', 'all'], 'must be one of failed, all'), 'all'),
});
export type ReplayEvents = v.InferOutput<typeof ReplayEvents>;

/** A replay in an answer. */
export const ReplayBody = v.object({
  id: Uuid,
  since: Instant,
  until: Instant,
  events: v.array(v.string()),
  only: v.picklist(['failed', 'all']),
  status: v.picklist(['RUNNING', 'DONE']),
  requeued: v.pipe(v.number(), v.description('How many events were queued again so far.')),
  createdAt: Instant,
});
export type ReplayBody = v.InferOutput<typeof ReplayBody>;

/** `GET /webhook-endpoints/{id}/deliveries`. */
export const ListDeliveries = v.object({
  status: v.optional(choice(deliveryStatuses)),
  type: v.optional(EventPattern),
  limit: limitParameter(20, 100),
  cursor: CursorParameter,
});
export type ListDeliveries = v.InferOutput<typeof ListDeliveries>;

/** A delivery in an answer. */
export const DeliveryBody = v.object({
  eventId: Uuid,
  webhookId: v.string(),
  sequence: v.number(),
  type: v.string(),
  eventAt: Instant,
  status: v.picklist(deliveryStatuses),
  attempts: v.number(),
  nextAttemptAt: v.nullable(Instant),
});
export type DeliveryBody = v.InferOutput<typeof DeliveryBody>;

/** A page of deliveries, the latest first. */
export const DeliveriesPage = v.object({
  data: v.array(DeliveryBody),
  cursor: v.nullable(v.string()),
  hasMore: v.pipe(
    v.boolean(),
    v.description(
      'Whether there is another page. With `type` a page may be short or empty although there is one: continue with `cursor`.',
    ),
  ),
});

/** A delivery with its calls, the oldest first. */
export const DeliveryWithAttempts = v.object({
  ...DeliveryBody.entries,
  body: v.pipe(
    v.nullable(v.string()),
    v.description('What the endpoint is called with; null when the event was deleted.'),
  ),
  log: v.array(AttemptBody),
});

/** `GET /webhook-endpoints/{id}/audit`. */
export const AuditSpan = v.object({ from: v.optional(GivenInstant), until: v.optional(GivenInstant) });
export type AuditSpan = v.InferOutput<typeof AuditSpan>;

/** Events of a span compared with what was delivered of them. */
export const EndpointAudit = v.object({
  from: Instant,
  until: Instant,
  events: v.pipe(v.number(), v.description('Events that the endpoint subscribes to.')),
  delivered: v.number(),
  failed: v.number(),
  pending: v.number(),
  addsUp: v.boolean(),
  firstSequence: v.nullable(v.number()),
  lastSequence: v.nullable(v.number()),
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
