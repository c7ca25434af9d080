import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { answer, api } from '../../api/client.ts';
import { useFilters, useProjectId } from '../../app/address.ts';
import { Badge } from '../../ui/Badge.tsx';
import { SelectField } from '../../ui/Field.tsx';
import { count, rate } from '../../ui/numbers.ts';
import { Page } from '../../ui/Page.tsx';
import { Pager } from '../../ui/Pager.tsx';
import { SearchField } from '../../ui/SearchField.tsx';
import { Empty, Shown } from '../../ui/States.tsx';
import { Table } from '../../ui/Table.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { states } from './campaign.ts';

/** Every campaign, newest first, with how far it is. */
export function Campaigns() {
  const project = useProjectId();
  const [{ search, status, archived, page }, change] = useFilters();
  const campaigns = useQuery({
    queryKey: ['campaigns', project, { search, status, archived, page }],
    refetchInterval: ({ state }) => (state.data?.data.some((each) => each.status === 'SENDING') ? 3_000 : false),
    queryFn: () =>
      answer(api.GET('/campaigns', { params: { query: { search, status, archived, page, pageSize: '50' } } })),
  });
  const create = (
    <Link
      className="button"
      data-look="primary"
      to="/app/$project/campaigns/$campaign"
      params={{ project, campaign: 'new' }}
    >
      New campaign
    </Link>
  );
  const isFiltered = Boolean(search || status || archived);
  return (
    <Page title="Campaigns" about="One message to many, at once or at a time you set." actions={create}>
      <div className="filters">
        <SearchField
          label="Search"
          value={search ?? ''}
          onChange={(text) => change({ search: text, page: undefined })}
        />
        <SelectField
          label="State"
          value={status ?? ''}
          onChange={(event) => change({ status: event.target.value, page: undefined })}
        >
          <option value="">All</option>
          {Object.entries(states).map(([value, { name }]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </SelectField>
        <SelectField
          label="Shown"
          value={archived ?? ''}
          onChange={(event) => change({ archived: event.target.value, page: undefined })}
        >
          <option value="">In use</option>
          <option value="true">Archived</option>
        </SelectField>
      </div>
      <Shown query={campaigns}>
        {(found) =>
          found.total === 0 ? (
            <Empty title={isFiltered ? 'No campaign fits' : 'No campaigns yet'} action={isFiltered ? null : create} />
          ) : (
            <>
              <Table
                label="Campaigns"
                rows={found.data}
                rowKey={({ id }) => id}
                columns={[
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
                    title: 'State',
                    cell: (each) => (
                      <Badge tone={each.pausedAt ? 'warn' : states[each.status].tone}>
                        {each.pausedAt ? 'Paused' : states[each.status].name}
                      </Badge>
                    ),
                  },
                  { key: 'people', title: 'Recipients', number: true, cell: (each) => count(each.totalRecipients) },
                  { key: 'sent', title: 'Sent', number: true, cell: ({ sentCount }) => count(sentCount) },
                  {
                    key: 'opened',
                    title: 'Opened',
                    number: true,
                    cell: ({ sentCount, openedCount }) =>
                      sentCount === 0 ? '–' : rate((openedCount / sentCount) * 100),
                  },
                  {
                    key: 'at',
                    title: 'When',
                    cell: ({ sentAt, scheduledFor, createdAt }) => (
                      <Timestamp at={sentAt ?? scheduledFor ?? createdAt} />
                    ),
                  },
                ]}
              />
              <Pager found={found} onChange={(next) => change({ page: String(next) })} />
            </>
          )
        }
      </Shown>
    </Page>
  );
}
