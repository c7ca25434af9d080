import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { answer, api } from '../../api/client.ts';
import { useFilters, useProjectId } from '../../app/address.ts';
import { ChoiceFilter, SearchFilter } from '../../app/filters.tsx';
import { Badge } from '../../ui/Badge.tsx';
import { buttonClass } from '../../ui/Button.tsx';
import { Page } from '../../ui/Page.tsx';
import { Empty, Shown } from '../../ui/States.tsx';
import { Table } from '../../ui/Table.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { count } from '../../words/numbers.ts';
import { segmentTypeNames } from './segment.ts';

/** The segments of the project: parts of the audience, by a condition or by hand. */
export function Segments() {
  const project = useProjectId();
  const [{ search = '', type }] = useFilters();
  const segments = useQuery({ queryKey: ['segments', project], queryFn: () => answer(api.GET('/segments')) });
  const create = (
    <Link className={buttonClass('primary')} to="/app/$project/segments/new" params={{ project }}>
      New segment
    </Link>
  );
  return (
    <Page title="Segments" about="Groups of contacts for campaigns and workflows." actions={create}>
      <div className="filters">
        <SearchFilter label="Search names" />
        <ChoiceFilter name="type" label="Type" all="All types" choices={Object.entries(segmentTypeNames)} />
      </div>
      <Shown query={segments}>
        {(all) => {
          const shown = all.filter(
            (each) => (!type || each.type === type) && each.name.toLowerCase().includes(search.toLowerCase()),
          );
          if (all.length === 0)
            return (
              <Empty title="No segments yet" action={create}>
                Group contacts by their data and activity, or pick them yourself.
              </Empty>
            );
          if (shown.length === 0) return <Empty title="No segments match">Try a different search.</Empty>;
          return (
            <Table
              label="Segments"
              rows={shown}
              rowKey={({ id }) => id}
              columns={[
                {
                  key: 'name',
                  title: 'Name',
                  cell: ({ id, name, description }) => (
                    <>
                      <Link to="/app/$project/segments/$segment" params={{ project, segment: id }} dir="auto">
                        {name}
                      </Link>
                      {description ? (
                        <div className="muted" dir="auto">
                          {description}
                        </div>
                      ) : null}
                    </>
                  ),
                },
                { key: 'people', title: 'Contacts', number: true, cell: ({ memberCount }) => count(memberCount) },
                { key: 'type', title: 'Type', cell: (each) => segmentTypeNames[each.type] },
                {
                  key: 'tracking',
                  title: 'Tracking',
                  cell: ({ trackMembership }) =>
                    trackMembership ? <Badge tone="info">Entries and exits</Badge> : <span className="muted">Off</span>,
                },
                { key: 'changed', title: 'Updated', cell: ({ updatedAt }) => <Timestamp at={updatedAt} /> },
              ]}
            />
          );
        }}
      </Shown>
    </Page>
  );
}
