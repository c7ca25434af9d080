import * as v from 'valibot';
import { route } from '../../http/route.ts';
import { field } from '../../lib/validation/fields.ts';
import { listActivity } from './feed.ts';
import {
  ActivityPage,
  ActivityStats,
  ListActivity,
  RecentCount,
  RecentCountQuery,
  Running,
  StatsQuery,
  Upcoming,
  UpcomingQuery,
} from './schema.ts';
import { activityStats, holdOf, recentCount, runningNow, upcoming } from './stats.ts';
import { activityTypes } from './types.ts';

/** Routes of the feed of a project, its totals, and its upcoming activity. */
export const activityRoutes = [
  route.get('/activity', {
    heavy: true,
    access: 'dashboard',
    summary: 'List activities',
    operationId: 'listActivity',
    description: 'Newest first. `startDate` applies to the first page only, so that older pages have no end.',
    query: ListActivity,
    returns: 'The page of activities, newest first.',
    reply: ActivityPage,
    handle: ({ app, db, project, query }) => listActivity({ app, db }, project, query),
  }),
  route.get('/activity/types', {
    access: 'dashboard',
    summary: 'List activity types',
    returns: 'The types that `GET /activity` can be filtered by.',
    reply: v.object({ types: field('Types of activities, for `types` in `GET /activity`.', v.array(v.string())) }),
    handle: () => ({ types: activityTypes }),
  }),
  route.get('/activity/stats', {
    heavy: true,
    access: 'dashboard',
    summary: 'Get activity statistics',
    query: StatsQuery,
    returns: 'The totals and rates of the period.',
    reply: ActivityStats,
    handle: ({ app, db, project, query }) => activityStats(db, project.id, query, app.clock()),
  }),
  route.get('/activity/recent-count', {
    heavy: true,
    access: 'dashboard',
    summary: 'Count the activities of the last minutes',
    operationId: 'countRecentActivity',
    query: RecentCountQuery,
    returns: 'The number of events, emails and executions created in the last `minutes`.',
    reply: RecentCount,
    handle: ({ app, db, project, query }) => recentCount(db, project.id, query.minutes, app.clock()),
  }),
  route.get('/activity/running', {
    access: 'dashboard',
    summary: 'List what is being worked on',
    operationId: 'listRunningActivity',
    description: 'Campaigns that are sending, imports, bulk jobs, and migrations of workflows, the latest first.',
    returns: 'What is running, newest first, and in `hold` why emails wait for the mail provider.',
    reply: Running,
    handle: async ({ app, db, project }) => {
      const [data, hold] = await Promise.all([runningNow(db, project.id), holdOf(db, app.mailer.name, project.id)]);
      return { data, hold };
    },
  }),
  route.get('/activity/upcoming', {
    heavy: true,
    access: 'dashboard',
    summary: 'List upcoming activities',
    operationId: 'listUpcomingActivity',
    query: UpcomingQuery,
    returns: 'Scheduled campaigns and workflow emails, soonest first.',
    reply: Upcoming,
    handle: ({ app, db, project, query }) => upcoming(db, project.id, query, app.clock()),
  }),
];
