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
    reply: TimeSeries,
    handle: ({ app, db, project, query }) => timeSeries(db, project.id, query, app.clock()),
  }),
  route.get('/analytics/top-campaigns', {
    heavy: true,
    ...inProject('campaigns:read'),
    summary: 'List the campaigns with the most opens',
    operationId: 'listTopCampaigns',
    query: TopQuery,
    reply: TopCampaigns,
    handle: ({ app, db, project, query }) => topCampaigns(db, project.id, query, app.clock()),
  }),
  route.get('/analytics/campaign-stats', {
    heavy: true,
    ...inProject('campaigns:read'),
    summary: 'Get the number of campaigns and their average rates',
    operationId: 'getCampaignAverages',
    query: WindowQuery,
    reply: WindowCampaignStats,
    handle: ({ app, db, project, query }) => windowCampaignStats(db, project.id, query, app.clock()),
  }),
  route.get('/analytics/top-events', {
    heavy: true,
    ...inProject('contacts:read'),
    summary: 'List the most frequent events',
    operationId: 'listTopEvents',
    query: TopQuery,
    reply: TopEvents,
    handle: ({ app, db, project, query }) => topEvents(db, project.id, query, app.clock()),
  }),
];
