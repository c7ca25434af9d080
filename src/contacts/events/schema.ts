import * as v from 'valibot';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import { EmailField } from '../../lib/validation/email-address.ts';
import {
  dayParameter,
  describedBy,
  field,
  Instant,
  Integer,
  JsonObject,
  limitParameter,
  nameSchemas,
  parameter,
  textField,
  Uuid,
} from '../../lib/validation/fields.ts';

/** `POST /v1/track`. */
export const TrackBody = v.object({
  email: field('Email address of the contact; a new address creates a contact.', EmailField),
  event: field('Name of the event, up to 255 characters.', textField('event', 1, 255)),
  subscribed: field(
    'Whether the contact is subscribed to marketing mail; absent leaves an existing contact unchanged.',
    v.optional(v.boolean()),
  ),
  data: field('Data of the event; its values are also stored on the contact.', v.nullish(JsonObject)),
});
export type TrackBody = v.InferOutput<typeof TrackBody>;

/** The answer of `POST /v1/track`. */
export const TrackReply = v.object({
  success: field('Always true.', v.literal(true)),
  data: field(
    'The recorded event.',
    v.object({
      contact: field('ID of the contact.', v.string()),
      event: field('ID of the event.', v.string()),
      timestamp: field('Time at which the event was recorded.', v.string()),
    }),
  ),
});
export type TrackReply = v.InferOutput<typeof TrackReply>;

/** `POST /events/track` for a contact that is known by its id, or for none. */
export const RecordEvent = v.object({
  name: field('Name of the event, up to 255 characters.', textField('name', 1, 255)),
  contactId: field('ID of the contact; null or absent for an event of no contact.', v.nullish(Uuid)),
  emailId: field('ID of the email that the event is about; null or absent for none.', v.nullish(Uuid)),
  data: field('Data of the event.', v.nullish(JsonObject)),
});
export type RecordEvent = v.InferOutput<typeof RecordEvent>;

const EventToRecord = v.partial(
  v.object({
    ...TrackBody.entries,
    ...RecordEvent.entries,
    name: field('Name of the event, up to 255 characters; `event` without it.', RecordEvent.entries.name),
    event: field(
      'Name of the event of the contact with this `email`. Needs `email`; ignored with `name`.',
      TrackBody.entries.event,
    ),
    email: field(
      'Email address of the contact, beside `event`; a new address creates a contact.',
      TrackBody.entries.email,
    ),
  }),
);
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
  id: field('ID of the event.', v.string()),
  name: field('Name of the event.', v.string()),
  data: field(
    'Data of the event; null when there is none.',
    v.nullable(v.record(v.string(), v.unknown())) as unknown as v.GenericSchema<
      JsonObjectValue | null,
      JsonObjectValue | null
    >,
  ),
  dataOmitted: v.optional(
    v.pipe(v.literal(true), v.description('The data is too large for this answer: `data` is null here.')),
  ),
  projectId: field('ID of the project.', v.string()),
  contactId: field('ID of the contact; null for an event of no contact.', v.nullable(v.string())),
  emailId: field('ID of the email that the event is about; null for none.', v.nullable(v.string())),
  createdAt: field('Time at which the event was recorded.', Instant),
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
  events: field(
    'Events of the project, newest first.',
    v.array(
      v.object({
        ...EventBody.entries,
        contact: field(
          'The contact of the event; null when there is none.',
          v.nullable(v.object({ email: field('Email address of the contact.', v.string()) })),
        ),
      }),
    ),
  ),
});

/** `GET /events/contact/{contactId}`. */
export const ListContactEvents = v.object({ limit: limitParameter(50, 1_000) });

/** Events of one contact, newest first. */
export const ContactEventList = v.object({ events: field('Events of the contact, newest first.', v.array(EventBody)) });

/** `GET /events/stats`: both ends belong to the range. */
export const EventStatsQuery = v.object({
  startDate: dayParameter('First day or instant; without a bound when absent.'),
  endDate: dayParameter('Last day or instant; without a bound when absent.'),
});
export type EventStatsQuery = v.InferOutput<typeof EventStatsQuery>;

/** How often each event happened, the most frequent first. */
export const EventStats = v.array(
  v.object({
    name: field('Name of the event.', v.string()),
    count: field('Number of times the event occurred.', Integer),
  }),
);
export type EventStats = v.InferOutput<typeof EventStats>;

/** The answer of `GET /events/names`. */
export const EventNames = v.object({
  eventNames: field("Names of the project's events, most frequent first.", v.array(v.string())),
});

const Use = v.object({
  id: field('ID of the segment or workflow.', v.string()),
  name: field('Name of the segment or workflow.', v.string()),
});

/** Everything that uses an event, and how often it happened. */
export const EventUsage = v.object({
  usedInSegments: field('Segments whose conditions use the event.', v.array(Use)),
  usedInWorkflows: field('Workflows that use the event.', v.array(Use)),
  totalCount: field('Number of times the event occurred.', Integer),
  uniqueContacts: field('Number of contacts with the event.', Integer),
  canDelete: field('Whether the event can be deleted, because nothing uses it.', v.boolean()),
});
export type EventUsage = v.InferOutput<typeof EventUsage>;

/** The answer of `DELETE /events/{eventName}`. */
export const EventDeletion = v.object({ deletedCount: field('Number of events that were deleted.', Integer) });

nameSchemas({ Event: EventBody, EventUsage, EventToRecord, TrackEventRequest: TrackBody });
