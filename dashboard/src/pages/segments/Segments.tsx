import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { answer, api } from '../../api/client.ts';
import { useFilters, useProjectId } from '../../app/address.ts';
import { Badge } from '../../ui/Badge.tsx';
import { SelectField } from '../../ui/Field.tsx';
import { count } from '../../ui/numbers.ts';
import { Page } from '../../ui/Page.tsx';
import { SearchField } from '../../ui/SearchField.tsx';
import { Empty, Shown } from '../../ui/States.tsx';
import { Table } from '../../ui/Table.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { typeNames } from './segment.ts';

/** The segments of the project: parts of the audience, by a condition or by hand. */
export function Segments() {
  const project = useProjectId();
  const [{ search = '', type }, change] = useFilters();
  const segments = useQuery({ queryKey: ['segments', project], queryFn: () => answer(api.GET('/segments')) });
  const create = (
    <Link className="button" data-look="primary" to="/app/$project/segments/new" params={{ project }}>
      New segment
    </Link>
  );
  return (
    <Page title="Segments" about="Parts of your audience, for campaigns and workflows." actions={create}>
      <div className="filters">
        <SearchField label="Search names" value={search} onChange={(text) => change({ search: text })} />
        <SelectField label="Kind" value={type ?? ''} onChange={(event) => change({ type: event.target.value })}>
          <option value="">Every kind</option>
          {Object.entries(typeNames).map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </SelectField>
      </div>
      <Shown query={segments}>
        {(all) => {
          const shown = all.filter(
            (each) => (!type || each.type === type) && each.name.toLowerCase().includes(search.toLowerCase()),
          );
          if (all.length === 0)
            return (
              <Empty title="No segments yet" action={create}>
                A segment finds people by what you know of them, or holds those whom you put into it.
              </Empty>
            );
          if (shown.length === 0) return <Empty title="No segment fits">Try a shorter part of the name.</Empty>;
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
                { key: 'people', title: 'People', number: true, cell: ({ memberCount }) => count(memberCount) },
                { key: 'type', title: 'Kind', cell: (each) => typeNames[each.type] },
                {
                  key: 'tracking',
                  title: 'Tracking',
                  cell: ({ trackMembership }) =>
                    trackMembership ? <Badge tone="info">Entries and exits</Badge> : <span className="muted">Off</span>,
                },
                { key: 'changed', title: 'Changed', cell: ({ updatedAt }) => <Timestamp at={updatedAt} /> },
              ]}
            />
          );
        }}
      </Shown>
    </Page>
  );
}
