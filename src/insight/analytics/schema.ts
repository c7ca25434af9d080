import { field } from '@fernpost/openapi/names';
import { dayParameter, Instant, parameter } from '@fernpost/validation';
import * as v from 'valibot';

const window = {
  startDate: dayParameter('First day of the window, in UTC; 30 days ago when absent.'),
  endDate: dayParameter('Last day of the window, in UTC; it is included. Today when absent.'),
};

/** A window; both dates belong to it. */
export const WindowQuery = v.object(window);
export type WindowQuery = v.InferOutput<typeof WindowQuery>;

/** A window and how many rows of a list are wanted. */
export const TopQuery = v.object({
  limit: parameter('Number of items to return, 1 to 50; 10 when absent.', { type: 'integer', minimum: 1 }),
  ...window,
});
export type TopQuery = v.InferOutput<typeof TopQuery>;

/** Mail by the day (UTC) it was created on, one element for each day. */
export const TimeSeries = v.array(
  v.object({
    date: field('Midnight (UTC) at which the day begins.', Instant),
    emails: field('Number of emails created on this day.', v.number()),
    opens: field('Number of these that were opened at least once.', v.number()),
    clicks: field('Number of these in which at least one link was clicked.', v.number()),
    bounces: field('Number of these that bounced permanently.', v.number()),
    delivered: field('Number of these that were reported as delivered.', v.number()),
  }),
);
export type TimeSeries = v.InferOutput<typeof TimeSeries>;

/** Campaigns by how many recipients opened them; rates are percentages of `sentCount`. */
export const TopCampaigns = v.array(
  v.object({
    id: field('ID of the campaign.', v.string()),
    subject: field('Subject line of the campaign, with Liquid variables.', v.string()),
    sentCount: field('Number of emails that the mail provider accepted.', v.number()),
    openedCount: field('Number of emails that were opened at least once.', v.number()),
    clickedCount: field('Number of emails in which at least one link was clicked.', v.number()),
    openRate: field('`openedCount` as a percentage of `sentCount`; 0 when nothing was sent.', v.number()),
    clickRate: field('`clickedCount` as a percentage of `sentCount`; 0 when nothing was sent.', v.number()),
  }),
);
export type TopCampaigns = v.InferOutput<typeof TopCampaigns>;

/** Campaigns of a window; averages are percentages of all mail that they sent. */
export const WindowCampaignStats = v.object({
  total: field('Number of campaigns created in the window.', v.number()),
  active: field('Number of these that are drafts or scheduled.', v.number()),
  completed: field('Number of campaigns sent in the window.', v.number()),
  averageOpenRate: field(
    'Opened emails of the sent campaigns, as a percentage of all their emails; one decimal.',
    v.number(),
  ),
  averageClickRate: field(
    'Clicked emails of the sent campaigns, as a percentage of all their emails; one decimal.',
    v.number(),
  ),
});
export type WindowCampaignStats = v.InferOutput<typeof WindowCampaignStats>;

/** Events by how often they happened; `trend` is the change in percent against the equally long time before. */
export const TopEvents = v.array(
  v.object({
    name: field('Name of the event.', v.string()),
    count: field('Number of times it happened in the window.', v.number()),
    trend: field(
      'Change from the preceding window of the same length, in percent; 100 if the event did not happen then.',
      v.number(),
    ),
  }),
);
export type TopEvents = v.InferOutput<typeof TopEvents>;
