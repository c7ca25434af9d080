import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { answer, api } from '../../api/client.ts';
import { useFilters, useProjectId } from '../../app/address.ts';
import { Page } from '../../ui/Page.tsx';
import { Pager } from '../../ui/Pager.tsx';
import { SearchField } from '../../ui/SearchField.tsx';
import { Empty, Shown } from '../../ui/States.tsx';
import { Table } from '../../ui/Table.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';

/** Messages that are used again: by workflows and by calls of the API. */
export function Templates() {
  const project = useProjectId();
  const [{ search, page }, change] = useFilters();
  const templates = useQuery({
    queryKey: ['templates', project, { search, page }],
    queryFn: () => answer(api.GET('/templates', { params: { query: { search, page, pageSize: '50' } } })),
  });
  const create = (
    <Link
      className="button"
      data-look="primary"
      to="/app/$project/templates/$template"
      params={{ project, template: 'new' }}
    >
      New template
    </Link>
  );
  return (
    <Page title="Templates" about="Messages for workflow steps and for POST /v1/send." actions={create}>
      <div className="filters">
        <SearchField
          label="Search"
          value={search ?? ''}
          onChange={(text) => change({ search: text, page: undefined })}
        />
      </div>
      <Shown query={templates}>
        {(found) =>
          found.total === 0 ? (
            <Empty title={search ? 'No template fits' : 'No templates yet'} action={search ? null : create} />
          ) : (
            <>
              <Table
                label="Templates"
                rows={found.data}
                rowKey={({ id }) => id}
                columns={[
                  {
                    key: 'name',
                    title: 'Name',
                    cell: ({ id, name }) => (
                      <Link to="/app/$project/templates/$template" params={{ project, template: id }} dir="auto">
                        {name}
                      </Link>
                    ),
                  },
                  { key: 'subject', title: 'Subject', cell: ({ subject }) => <span dir="auto">{subject}</span> },
                  { key: 'type', title: 'Kind', cell: ({ type }) => type.toLowerCase() },
                  { key: 'changed', title: 'Changed', cell: ({ updatedAt }) => <Timestamp at={updatedAt} /> },
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
