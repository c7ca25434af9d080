import { describedBy, nameSchemas } from '@fernpost/openapi/names';
import {
  dayParameter,
  EmailField,
  Instant,
  JsonObject,
  limitParameter,
  parameter,
  textField,
  Uuid,
} from '@fernpost/validation';
import * as v from 'valibot';
import type { JsonObjectValue } from '../../core/lib/json.ts';

/** `POST /v1/track`. */
export const TrackBody = v.object({
  email: EmailField,
  event: textField('event', 1, 255),
  subscribed: v.optional(v.boolean()),
  data: v.nullish(JsonObject),
});
export type TrackBody = v.InferOutput<typeof TrackBody>;

/** The answer of `POST /v1/track`. */
export const TrackReply = v.object({
  success: v.literal(true),
  data: v.object({ contact: v.string(), event: v.string(), timestamp: v.string() }),
});
export type TrackReply = v.InferOutput<typeof TrackReply>;

/** `POST /events/track` for a contact that is known by its id, or for none. */
export const RecordEvent = v.object({
  name: textField('name', 1, 255),
  contactId: v.nullish(Uuid),
  emailId: v.nullish(Uuid),
  data: v.nullish(JsonObject),
});
export type RecordEvent = v.InferOutput<typeof RecordEvent>;

const EventToRecord = v.union([RecordEvent, TrackBody]);
/** `POST /events/track`: `RecordEvent`, or the body of `POST /v1/track`. Which of the two decides how it is checked. */
export const TrackEither = describedBy(
  v.union([
    v.pipe(
      RecordEvent,
      v.transform((record) => ({ record })),
    ),
    v.pipe(
      TrackBody,
      v.transform((track) => ({ track })),
    ),
  ]),
  EventToRecord,
);
export type TrackEither = v.InferOutput<typeof TrackEither>;

/** An event in an answer. */
export const EventBody = v.object({
  id: v.string(),
  name: v.string(),
  data: v.nullable(v.record(v.string(), v.unknown())) as unknown as v.GenericSchema<
    JsonObjectValue | null,
    JsonObjectValue | null
  >,
  dataOmitted: v.optional(
    v.pipe(v.literal(true), v.description('The data is too large for this answer: `data` is null here.')),
  ),
  projectId: v.string(),
  contactId: v.nullable(v.string()),
  emailId: v.nullable(v.string()),
  createdAt: Instant,
});
export type EventBody = v.InferOutput<typeof EventBody>;

/** `GET /events`. */
export const ListEvents = v.object({
  eventName: parameter('Events of this name; all when absent.'),
  limit: limitParameter(100, 1_000),
});
export type ListEvents = v.InferOutput<typeof ListEvents>;

/** Events of a project, newest first, each with the address of its contact. */
export const EventList = v.object({
  events: v.array(v.object({ ...EventBody.entries, contact: v.nullable(v.object({ email: v.string() })) })),
});

/** `GET /events/contact/{contactId}`. */
export const ListContactEvents = v.object({ limit: limitParameter(50, 1_000) });

/** Events of one contact, newest first. */
export const ContactEventList = v.object({ events: v.array(EventBody) });

/** `GET /events/stats`: both ends belong to the range. */
export const EventStatsQuery = v.object({
  startDate: dayParameter('First day or instant; without a bound when absent.'),
  endDate: dayParameter('Last day or instant; without a bound when absent.'),
});
export type EventStatsQuery = v.InferOutput<typeof EventStatsQuery>;

/** How often each event happened, the most frequent first. */
export const EventStats = v.array(v.object({ name: v.string(), count: v.number() }));
export type EventStats = v.InferOutput<typeof EventStats>;

/** The answer of `GET /events/names`. */
export const EventNames = v.object({ eventNames: v.array(v.string()) });

const Use = v.object({ id: v.string(), name: v.string() });

/** What uses an event. */
export const EventUsage = v.object({
  usedInSegments: v.array(Use),
  usedInWorkflows: v.array(Use),
  totalCount: v.number(),
  uniqueContacts: v.number(),
  canDelete: v.boolean(),
});
export type EventUsage = v.InferOutput<typeof EventUsage>;

/** The answer of `DELETE /events/{eventName}`. */
export const EventDeletion = v.object({ deletedCount: v.number() });

nameSchemas({ Event: EventBody, EventUsage, EventToRecord, RecordedEvent: RecordEvent, TrackEventRequest: TrackBody });
