import { useQuery } from '@tanstack/react-query';
import { answer, api } from '../../api/client.ts';
import { useFilters, useProjectId } from '../../app/address.ts';
import { PeriodFilter } from '../../app/filters.tsx';
import { Figure } from '../../ui/Figure.tsx';
import { Card, Page } from '../../ui/Page.tsx';
import { Empty, Shown } from '../../ui/States.tsx';
import { Table } from '../../ui/Table.tsx';
import { count, rate } from '../../words/numbers.ts';
import { daysOf, startOf } from '../../words/ranges.ts';
import { subjectText } from '../../words/subjects.ts';
import { MailChart } from './MailChart.tsx';

/** Shows the outcome of mail by day, by campaign and by event. */
export function Analytics() {
  const project = useProjectId();
  const [filters] = useFilters();
  const days = daysOf(filters.days);
  const startDate = startOf(days);
  return (
    <Page title="Analytics" about="Unique opens and clicks: an email opened twice counts once.">
      <div className="filters">
        <PeriodFilter />
      </div>
      <div className="stack">
        <Figures project={project} startDate={startDate} />
        <Card title="Emails by day">
          <MailChart project={project} startDate={startDate} />
        </Card>
        <div className="stretch">
          <TopCampaigns project={project} startDate={startDate} />
          <TopEvents project={project} startDate={startDate} />
        </div>
      </div>
    </Page>
  );
}

interface Asked {
  project: string;
  startDate: string;
}

function Figures({ project, startDate }: Asked) {
  const stats = useQuery({
    queryKey: ['activity-stats', project, startDate],
    queryFn: () => answer(api.GET('/activity/stats', { params: { query: { startDate } } })),
  });
  const campaigns = useQuery({
    queryKey: ['campaign-stats', project, startDate],
    queryFn: () => answer(api.GET('/analytics/campaign-stats', { params: { query: { startDate } } })),
  });
  return (
    <Card title="Summary">
      <Shown query={stats}>
        {(mail) => (
          <dl className="figures">
            <Figure name="Emails sent" value={count(mail.totalEmailsHandedOver)} />
            <Figure name="Opened" value={rate(mail.openRate)} />
            <Figure name="Clicked" value={rate(mail.clickRate)} />
            <Figure name="Events" value={count(mail.totalEvents)} />
            <Figure name="Workflows started" value={count(mail.totalWorkflowsStarted)} />
            <Figure name="Campaigns completed" value={campaigns.data ? count(campaigns.data.completed) : '…'} />
          </dl>
        )}
      </Shown>
    </Card>
  );
}

function TopCampaigns({ project, startDate }: Asked) {
  const query = useQuery({
    queryKey: ['top-campaigns', project, startDate],
    queryFn: () => answer(api.GET('/analytics/top-campaigns', { params: { query: { startDate, limit: 10 } } })),
  });
  return (
    <Card title="Most opened campaigns">
      <Shown query={query}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="No campaigns sent in this period" />
          ) : (
            <Table
              label="Most opened campaigns"
              rows={rows}
              rowKey={({ id }) => id}
              columns={[
                {
                  key: 'subject',
                  title: 'Subject',
                  cell: ({ subject }) => <span dir="auto">{subjectText(subject)}</span>,
                },
                { key: 'sent', title: 'Sent', number: true, cell: ({ sentCount }) => count(sentCount) },
                { key: 'opened', title: 'Opened', number: true, cell: ({ openRate }) => rate(openRate) },
                { key: 'clicked', title: 'Clicked', number: true, cell: ({ clickRate }) => rate(clickRate) },
              ]}
            />
          )
        }
      </Shown>
    </Card>
  );
}

function TopEvents({ project, startDate }: Asked) {
  const query = useQuery({
    queryKey: ['top-events', project, startDate],
    queryFn: () => answer(api.GET('/analytics/top-events', { params: { query: { startDate, limit: 10 } } })),
  });
  return (
    <Card title="Most frequent events">
      <Shown query={query}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="No events in this period" />
          ) : (
            <Table
              label="Most frequent events"
              rows={rows}
              rowKey={({ name }) => name}
              columns={[
                { key: 'name', title: 'Event', cell: ({ name }) => <code>{name}</code> },
                { key: 'count', title: 'Count', number: true, cell: (row) => count(row.count) },
                {
                  key: 'trend',
                  title: 'Change',
                  number: true,
                  cell: ({ trend }) => `${trend > 0 ? '+' : ''}${rate(trend)}`,
                },
              ]}
            />
          )
        }
      </Shown>
    </Card>
  );
}
