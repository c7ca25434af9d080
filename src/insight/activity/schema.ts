import * as v from 'valibot';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import { CursorParameter } from '../../lib/pages.ts';
import {
  dayParameter,
  field,
  Instant,
  Integer,
  limitParameter,
  nameSchemas,
  numberParameter,
  parameter,
} from '../../lib/validation/fields.ts';
import { SendingHold } from '../../mail/engine/breaker.ts';
import { activityTypes } from './types.ts';

const window = {
  startDate: dayParameter('Start of the period, as a day or an instant; 30 days ago when absent.'),
  endDate: dayParameter('End of the period, as a day or an instant; it is included. Absent for no end.'),
};

/** `GET /activity`. */
export const ListActivity = v.object({
  limit: limitParameter(50, 100),
  cursor: CursorParameter,
  types: parameter('Types of activities, separated by commas; all when absent.'),
  contactId: parameter('Activities of this contact; all when absent.'),
  ...window,
});
export type ListActivity = v.InferOutput<typeof ListActivity>;

/** One thing that happened, or will. What `metadata` holds depends on the type (docs/contract/platform.md#4-2). */
export const ActivityItem = v.object({
  id: field('ID of the activity, made of the ID of its email, event, campaign or execution.', v.string()),
  type: field('Type of the activity; see `GET /activity/types`.', v.picklist(activityTypes)),
  timestamp: field('When it happened; for upcoming activities, when it is due.', Instant),
  contactEmail: field('Address of the contact; absent for activities without one.', v.optional(v.string())),
  contactId: field('ID of the contact; absent for activities without one.', v.optional(v.string())),
  metadata: field(
    'Details, which depend on the type, such as the subject of an email.',
    v.record(v.string(), v.unknown()) as unknown as v.GenericSchema<JsonObjectValue, JsonObjectValue>,
  ),
});
export type ActivityItem = v.InferOutput<typeof ActivityItem>;

/** A page of the feed; `cursor` is absent on the last one, and `total` counts on the first one only. */
export const ActivityPage = v.object({
  data: field('Activities on this page, newest first.', v.array(ActivityItem)),
  cursor: field('Pass it as `cursor` to get the next page; absent on the last page.', v.optional(v.string())),
  hasMore: field('Whether there is another page.', v.boolean()),
  total: field('Number of activities that match. Counted on the first page only; 0 on the others.', Integer),
});
export type ActivityPage = v.InferOutput<typeof ActivityPage>;

/** `GET /activity/stats`. */
export const StatsQuery = v.object(window);
export type StatsQuery = v.InferOutput<typeof StatsQuery>;

/** Totals of a window; rates are percentages of the mail. */
export const ActivityStats = v.object({
  totalEvents: field('Number of events tracked.', Integer),
  totalEmailsSent: field('Number of emails created or received, except suppressed ones.', Integer),
  totalEmailsHandedOver: field(
    'Number of these that the mail provider accepted, or that were received. Pending emails, and campaign recipients who were skipped or failed, do not count.',
    Integer,
  ),
  totalEmailsDelivered: field('Number of these that the recipient’s server accepted.', Integer),
  totalEmailsOpened: field('Number of these that were opened at least once.', Integer),
  totalEmailsClicked: field('Number of these in which at least one link was clicked.', Integer),
  totalEmailsBounced: field('Number of these that bounced permanently.', Integer),
  totalWorkflowsStarted: field('Number of workflow executions started.', Integer),
  openRate: field('`totalEmailsOpened` as a percentage of `totalEmailsSent`; 0 when nothing was sent.', v.number()),
  clickRate: field('`totalEmailsClicked` as a percentage of `totalEmailsSent`; 0 when nothing was sent.', v.number()),
});
export type ActivityStats = v.InferOutput<typeof ActivityStats>;

/** Something that is being worked on. */
const RunningItem = v.object({
  type: field(
    'What is running: a `campaign`, a contact `import`, a `bulk` change of contacts, or a `migration` of a workflow’s contacts.',
    v.picklist(['campaign', 'import', 'bulk', 'migration']),
  ),
  id: field('ID of the campaign or the job; for a `migration`, ID of the workflow.', v.string()),
  name: field(
    'Name of the campaign or the workflow, file name of an import, or operation of a bulk job; null if there is none.',
    v.nullable(v.string()),
  ),
  progress: field('Progress in percent; null before there is anything to count.', v.nullable(v.number())),
  isPaused: field('Whether the campaign is paused; always `false` for other types.', v.boolean()),
  startedAt: field('When it started.', Instant),
});

/** `GET /activity/running`: the latest first, at most 50. */
export const Running = v.object({
  data: field('What is running, newest first; up to 50.', v.array(RunningItem)),
  hold: field(
    'Why emails of the project are waiting for the mail provider; null while they are not.',
    v.nullable(SendingHold),
  ),
});
export type Running = v.InferOutput<typeof Running>;

/** `GET /activity/recent-count`. */
export const RecentCountQuery = v.object({
  minutes: numberParameter('Number of minutes to count back, 1 to 60.', 5, 60),
});

/** How much happened in the last minutes. */
export const RecentCount = v.object({
  count: field('Number of events, emails and workflow executions created in that time.', Integer),
  minutes: field('How far back was counted, in minutes.', Integer),
});

/** `GET /activity/upcoming`. */
export const UpcomingQuery = v.object({
  limit: limitParameter(50, 100),
  daysAhead: numberParameter('Number of days to look ahead, 1 to 90.', 30, 90),
});
export type UpcomingQuery = v.InferOutput<typeof UpcomingQuery>;

/** Upcoming activity, the earliest first. */
export const Upcoming = v.object({ activities: field('Upcoming activities, soonest first.', v.array(ActivityItem)) });
export type Upcoming = v.InferOutput<typeof Upcoming>;

/** A positive whole number of a query string, up to a maximum; anything else is the default (docs/contract/platform.md#4). */
export function positiveInteger(text: string | undefined, fallback: number, maximum: number): number {
  if (text === undefined || !/^\d{1,15}$/.test(text) || Number(text) === 0) return fallback;
  return Math.min(Number(text), maximum);
}

nameSchemas({ Activity: ActivityItem, ActivityPage });
