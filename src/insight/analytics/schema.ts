import { dayParameter, Instant, parameter } from '@fernpost/validation';
import * as v from 'valibot';

const window = {
  startDate: dayParameter('First day of the window.'),
  endDate: dayParameter('Last day of the window.'),
};

/** A window; both dates belong to it. */
export const WindowQuery = v.object(window);
export type WindowQuery = v.InferOutput<typeof WindowQuery>;

/** A window and how many rows of a list are wanted. */
export const TopQuery = v.object({
  limit: parameter('Items of the list.', { type: 'integer', minimum: 1 }),
  ...window,
});
export type TopQuery = v.InferOutput<typeof TopQuery>;

/** Mail by the day (UTC) it was created on, one element for each day. */
export const TimeSeries = v.array(
  v.object({
    date: Instant,
    emails: v.number(),
    opens: v.number(),
    clicks: v.number(),
    bounces: v.number(),
    delivered: v.number(),
  }),
);
export type TimeSeries = v.InferOutput<typeof TimeSeries>;

/** Campaigns by how many recipients opened them; rates are percentages of `sentCount`. */
export const TopCampaigns = v.array(
  v.object({
    id: v.string(),
    subject: v.string(),
    sentCount: v.number(),
    openedCount: v.number(),
    clickedCount: v.number(),
    openRate: v.number(),
    clickRate: v.number(),
  }),
);
export type TopCampaigns = v.InferOutput<typeof TopCampaigns>;

/** Campaigns of a window; averages are percentages of all mail that they sent. */
export const WindowCampaignStats = v.object({
  total: v.number(),
  active: v.number(),
  completed: v.number(),
  averageOpenRate: v.number(),
  averageClickRate: v.number(),
});
export type WindowCampaignStats = v.InferOutput<typeof WindowCampaignStats>;

/** Events by how often they happened; `trend` is the change in percent against the equally long time before. */
export const TopEvents = v.array(v.object({ name: v.string(), count: v.number(), trend: v.number() }));
export type TopEvents = v.InferOutput<typeof TopEvents>;
