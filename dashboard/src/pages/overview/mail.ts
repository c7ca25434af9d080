import { queryOptions } from '@tanstack/react-query';
import { answer, api } from '../../api/client.ts';
import { startOf } from '../../words/ranges.ts';
import { mailSince } from '../analytics/MailChart.tsx';

/** Mail by day, for the days shown and those before: one question, which the analytics of 90 days share. */
export const mailByDay = (project: string) => mailSince(project, startOf('90'));

/** What was sent in the days shown. */
export const mailTotals = (project: string) =>
  queryOptions({
    queryKey: ['activity-stats', project, startOf('30')],
    refetchInterval: 15_000,
    queryFn: () => answer(api.GET('/activity/stats', { params: { query: { startDate: startOf('30') } } })),
  });

/** The campaigns that were sent last, newest first. */
export const lastCampaigns = (project: string) =>
  queryOptions({
    queryKey: ['campaigns', project, 'last-sent'],
    refetchInterval: 30_000,
    queryFn: async () =>
      (
        await answer(
          api.GET('/campaigns', { params: { query: { status: 'SENT', sort: 'sentAt', dir: 'desc', pageSize: 3 } } }),
        )
      ).data,
  });
