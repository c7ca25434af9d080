import { nameSchemas } from '@fernpost/openapi/names';
import { dayParameter, Instant, limitParameter, numberParameter, parameter } from '@fernpost/validation';
import * as v from 'valibot';
import { CursorParameter } from '../../core/lib/cursor.ts';
import type { JsonObjectValue } from '../../core/lib/json.ts';
import { SendingHold } from '../../sending/engine/index.ts';
import { activityTypes } from './types.ts';

const window = {
  startDate: dayParameter('First day or instant.'),
  endDate: dayParameter('Last day or instant.'),
};

/** `GET /activity`. */
export const ListActivity = v.object({
  limit: limitParameter(50, 100),
  cursor: CursorParameter,
  types: parameter('Types of activities, separated by commas; all when absent.'),
  contactId: parameter('Of this contact only.'),
  ...window,
});
export type ListActivity = v.InferOutput<typeof ListActivity>;

/** One thing that happened, or will. What `metadata` holds depends on the type (contract page 3, 4.2). */
export const ActivityItem = v.object({
  id: v.string(),
  type: v.picklist(activityTypes),
  timestamp: Instant,
  contactEmail: v.optional(v.string()),
  contactId: v.optional(v.string()),
  metadata: v.record(v.string(), v.unknown()) as unknown as v.GenericSchema<JsonObjectValue, JsonObjectValue>,
});
export type ActivityItem = v.InferOutput<typeof ActivityItem>;

/** A page of the feed; `cursor` is absent on the last one, and `total` counts on the first one only. */
export const ActivityPage = v.object({
  data: v.array(ActivityItem),
  cursor: v.optional(v.string()),
  hasMore: v.boolean(),
  total: v.number(),
});
export type ActivityPage = v.InferOutput<typeof ActivityPage>;

/** `GET /activity/stats`. */
export const StatsQuery = v.object(window);
export type StatsQuery = v.InferOutput<typeof StatsQuery>;

/** What happened within a window; rates are percentages of the mail. */
export const ActivityStats = v.object({
  totalEvents: v.number(),
  totalEmailsSent: v.number(),
  totalEmailsHandedOver: v.pipe(
    v.number(),
    v.description(
      'Of these, given to the mail provider or received: without mail that waits, and without recipients of campaigns who were skipped or failed.',
    ),
  ),
  totalEmailsDelivered: v.pipe(v.number(), v.description('Of these, accepted by the recipient’s server.')),
  totalEmailsOpened: v.number(),
  totalEmailsClicked: v.number(),
  totalEmailsBounced: v.pipe(v.number(), v.description('Of these, returned for good.')),
  totalWorkflowsStarted: v.number(),
  openRate: v.number(),
  clickRate: v.number(),
});
export type ActivityStats = v.InferOutput<typeof ActivityStats>;

/** Something that is being worked on. */
const RunningItem = v.object({
  type: v.picklist(['campaign', 'import', 'bulk', 'migration']),
  id: v.pipe(v.string(), v.description('Of the campaign, the job, or the workflow whose contacts are migrated.')),
  name: v.pipe(
    v.nullable(v.string()),
    v.description('Of the campaign or the workflow, the file of an import, the operation of a bulk job.'),
  ),
  progress: v.pipe(v.nullable(v.number()), v.description('In percent; null before there is anything to count.')),
  isPaused: v.pipe(v.boolean(), v.description('Whether a campaign waits to be resumed.')),
  startedAt: Instant,
});

/** `GET /activity/running`: the latest first, at most 50. */
export const Running = v.object({
  data: v.array(RunningItem),
  hold: v.pipe(
    v.nullable(SendingHold),
    v.description('While the mail provider accepts no mail and mail of the project waits for it; null otherwise.'),
  ),
});
export type Running = v.InferOutput<typeof Running>;

/** `GET /activity/recent-count`. */
export const RecentCountQuery = v.object({ minutes: numberParameter('How far back.', 5, 60) });

/** How much happened in the last minutes. */
export const RecentCount = v.object({ count: v.number(), minutes: v.number() });

/** `GET /activity/upcoming`. */
export const UpcomingQuery = v.object({
  limit: limitParameter(50, 100),
  daysAhead: numberParameter('How far ahead.', 30, 90),
});
export type UpcomingQuery = v.InferOutput<typeof UpcomingQuery>;

/** What is going to happen, the earliest first. */
export const Upcoming = v.object({ activities: v.array(ActivityItem) });
export type Upcoming = v.InferOutput<typeof Upcoming>;

/** A positive whole number of a query string, up to a maximum; anything else is the default (contract page 3, 4). */
export function positiveInteger(text: string | undefined, fallback: number, maximum: number): number {
  if (text === undefined || !/^\d{1,15}$/.test(text) || Number(text) === 0) return fallback;
  return Math.min(Number(text), maximum);
}

nameSchemas({ Activity: ActivityItem, ActivityPage });
