import { queryOptions, useQuery } from '@tanstack/react-query';
import { answer, api } from '../../api/client.ts';
import { DaysChart } from '../../ui/DaysChart.tsx';
import { Shown } from '../../ui/States.tsx';
import type { MailDay } from '../../words/ranges.ts';

const lines = [
  ['emails', 'Emails', '--line-1'],
  ['delivered', 'Delivered', '--line-3'],
  ['opens', 'Opened', '--line-2'],
  ['clicks', 'Clicked', '--line-5'],
  ['bounces', 'Bounced', '--line-4'],
] as const;

/** Mail of each day since an instant, as the service counts it. */
const mailSince = (project: string, startDate: string) =>
  queryOptions({
    queryKey: ['timeseries', project, startDate],
    refetchInterval: 15_000,
    queryFn: () => answer(api.GET('/analytics/timeseries', { params: { query: { startDate } } })),
  });

/** Mail of each day as bars: those that were opened stand in front of those that were delivered. */
export function MailDays({ days }: { days: readonly MailDay[] }) {
  return (
    <DaysChart
      bars
      label="Emails by day"
      lines={lines}
      days={days}
      total="emails"
      empty={{ title: 'No emails in this period', text: 'Emails you send appear here.' }}
    />
  );
}

/** The bars of the mail since an instant. */
export function MailChart({ project, startDate }: { project: string; startDate: string }) {
  const query = useQuery(mailSince(project, startDate));
  return <Shown query={query}>{(days) => <MailDays days={days} />}</Shown>;
}
