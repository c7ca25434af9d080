import * as v from 'valibot';
import { route } from '../../core/http/route.ts';
import { listActivity } from './feed.ts';
import {
  ActivityPage,
  ActivityStats,
  ListActivity,
  RecentCount,
  RecentCountQuery,
  StatsQuery,
  Upcoming,
  UpcomingQuery,
} from './schema.ts';
import { activityStats, recentCount, upcoming } from './stats.ts';
import { activityTypes } from './types.ts';

/** What happened in a project, what it adds up to, and what is going to happen. */
export const activityRoutes = [
  route({
    method: 'GET',
    path: '/activity',
    access: 'dashboard',
    summary: 'List activities',
    operationId: 'listActivity',
    description: 'Newest first. `startDate` applies to the first page only, so that older pages have no end.',
    query: ListActivity,
    reply: ActivityPage,
    handle: ({ app, project, query }) => listActivity(app, project, query),
  }),
  route({
    method: 'GET',
    path: '/activity/types',
    access: 'dashboard',
    summary: 'List activity types',
    reply: v.object({ types: v.array(v.string()) }),
    handle: () => ({ types: activityTypes }),
  }),
  route({
    method: 'GET',
    path: '/activity/stats',
    access: 'dashboard',
    summary: 'Get activity statistics',
    query: StatsQuery,
    reply: ActivityStats,
    handle: ({ app, db, project, query }) => activityStats(db, project.id, query, app.clock()),
  }),
  route({
    method: 'GET',
    path: '/activity/recent-count',
    access: 'dashboard',
    summary: 'Count the activities of the last minutes',
    operationId: 'countRecentActivity',
    query: RecentCountQuery,
    reply: RecentCount,
    handle: ({ app, db, project, query }) => recentCount(db, project.id, query.minutes, app.clock()),
  }),
  route({
    method: 'GET',
    path: '/activity/upcoming',
    access: 'dashboard',
    summary: 'List upcoming activities',
    operationId: 'listUpcomingActivity',
    query: UpcomingQuery,
    reply: Upcoming,
    handle: ({ app, db, project, query }) => upcoming(db, project.id, query, app.clock()),
  }),
];
