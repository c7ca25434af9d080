import { Link } from '@tanstack/react-router';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { ChoiceFilter, SearchFilter } from '../../app/filters.tsx';
import { PagedTable, usePagedList } from '../../app/PagedTable.tsx';
import { Badge } from '../../ui/Badge.tsx';
import { buttonClass } from '../../ui/Button.tsx';
import { Page } from '../../ui/Page.tsx';
import { Empty } from '../../ui/States.tsx';
import type { Column } from '../../ui/Table.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { count, rate } from '../../words/numbers.ts';
import type { Campaign } from './campaign.ts';
import { campaignState, states } from './campaign.ts';

type Status = Campaign['status'];

/** Every campaign, newest first, with how far it is. */
export function Campaigns() {
  const project = useProjectId();
  const campaigns = usePagedList(
    'campaigns',
    (page, { search, status, archived }) =>
      answer(
        api.GET('/campaigns', {
          params: { query: { search, status: status as Status | undefined, archived: archived === 'true', ...page } },
        }),
      ),
    ({ data }) => data.some((each) => each.status === 'SENDING'),
  );
  const create = (
    <Link
      className={buttonClass('primary')}
      to="/app/$project/campaigns/$campaign"
      params={{ project, campaign: 'new' }}
    >
      New campaign
    </Link>
  );
  return (
    <Page title="Campaigns" about="One-time emails to many contacts, now or scheduled." actions={create}>
      <div className="filters">
        <SearchFilter />
        <ChoiceFilter
          name="status"
          label="Status"
          all="All"
          choices={Object.entries(states).map(([value, { name }]) => [value, name])}
        />
        <ChoiceFilter name="archived" label="Show" all="Active" choices={[['true', 'Archived']]} />
      </div>
      <PagedTable
        label="Campaigns"
        query={campaigns}
        none={
          <Empty title="No campaigns yet" action={create}>
            Write an email, choose the audience, preview it as any contact, and send it.
          </Empty>
        }
        noneFits="No campaigns match"
        columns={columnsOf(project)}
      />
    </Page>
  );
}

function columnsOf(project: string): Column<Campaign>[] {
  return [
    {
      key: 'name',
      title: 'Name',
      cell: ({ id, name }) => (
        <Link to="/app/$project/campaigns/$campaign" params={{ project, campaign: id }} dir="auto">
          {name}
        </Link>
      ),
    },
    {
      key: 'status',
      title: 'Status',
      cell: (each) => <Badge tone={campaignState(each).tone}>{campaignState(each).name}</Badge>,
    },
    { key: 'people', title: 'Recipients', number: true, cell: (each) => count(each.totalRecipients) },
    { key: 'sent', title: 'Sent', number: true, cell: ({ sentCount }) => count(sentCount) },
    rateColumn('opened', 'Opened', ({ openedCount }) => openedCount),
    rateColumn('clicked', 'Clicked', ({ clickedCount }) => clickedCount),
    rateColumn('bounced', 'Bounced', ({ bouncedCount }) => bouncedCount),
    {
      key: 'at',
      title: 'Date',
      cell: (each) => (
        <>
          <span className="muted">{each.sentAt ? 'Sent' : each.scheduledFor ? 'Sends' : 'Created'}</span>{' '}
          <Timestamp at={each.sentAt ?? each.scheduledFor ?? each.createdAt} />
        </>
      ),
    },
  ];
}

function rateColumn(key: string, title: string, countOf: (campaign: Campaign) => number): Column<Campaign> {
  return {
    key,
    title,
    number: true,
    cell: (each) => (each.sentCount === 0 ? '–' : rate((countOf(each) / each.sentCount) * 100)),
  };
}
