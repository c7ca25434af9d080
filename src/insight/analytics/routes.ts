import { inProject, route } from '../../http/route.ts';
import {
  TimeSeries,
  TopCampaigns,
  TopEvents,
  TopQuery,
  timeSeries,
  topCampaigns,
  topEvents,
  WindowCampaignStats,
  WindowQuery,
  windowCampaignStats,
} from './service.ts';

/** How mail, campaigns and events of a project did over time. */
export const analyticsRoutes = [
  route.get('/analytics/timeseries', {
    heavy: true,
    ...inProject('campaigns:read'),
    summary: 'Count mail by day',
    operationId: 'getMailByDay',
    description: 'Opens, clicks, bounces and deliveries belong to the day on which their mail was created.',
    query: WindowQuery,
    returns: 'One item for each day, oldest first, with what became of the emails created on it.',
    reply: TimeSeries,
    handle: ({ app, db, project, query }) => timeSeries(db, project.id, query, app.clock()),
  }),
  route.get('/analytics/top-campaigns', {
    heavy: true,
    ...inProject('campaigns:read'),
    summary: 'List the campaigns with the most opens',
    operationId: 'listTopCampaigns',
    query: TopQuery,
    returns: 'The campaigns with the most opens, in that order.',
    reply: TopCampaigns,
    handle: ({ app, db, project, query }) => topCampaigns(db, project.id, query, app.clock()),
  }),
  route.get('/analytics/campaign-stats', {
    heavy: true,
    ...inProject('campaigns:read'),
    summary: 'Get the number of campaigns and their average rates',
    operationId: 'getCampaignAverages',
    query: WindowQuery,
    returns: 'The numbers of campaigns in the period, and the average rates of those that were sent.',
    reply: WindowCampaignStats,
    handle: ({ app, db, project, query }) => windowCampaignStats(db, project.id, query, app.clock()),
  }),
  route.get('/analytics/top-events', {
    heavy: true,
    ...inProject('contacts:read'),
    summary: 'List the most frequent events',
    operationId: 'listTopEvents',
    query: TopQuery,
    returns: 'The event names, most frequent first, each with its count and its trend since the period before.',
    reply: TopEvents,
    handle: ({ app, db, project, query }) => topEvents(db, project.id, query, app.clock()),
  }),
];
