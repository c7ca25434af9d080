import { Link } from '@tanstack/react-router';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { SearchFilter } from '../../app/filters.tsx';
import { PagedTable, usePagedList } from '../../app/PagedTable.tsx';
import { buttonClass } from '../../ui/Button.tsx';
import { Page } from '../../ui/Page.tsx';
import { Empty } from '../../ui/States.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { subjectText } from '../../words/subjects.ts';

const typeNames = { MARKETING: 'Marketing', TRANSACTIONAL: 'Transactional', HEADLESS: 'Own footer' };

/** Messages that are used again: by workflows and by calls of the API. */
export function Templates() {
  const project = useProjectId();
  const templates = usePagedList('templates', (page, { search }) =>
    answer(api.GET('/templates', { params: { query: { search, ...page } } })),
  );
  const create = (
    <Link
      className={buttonClass('primary')}
      to="/app/$project/templates/$template"
      params={{ project, template: 'new' }}
    >
      New template
    </Link>
  );
  return (
    <Page title="Templates" about="Reusable emails for workflows, campaigns and POST /v1/send." actions={create}>
      <div className="filters">
        <SearchFilter />
      </div>
      <PagedTable
        label="Templates"
        query={templates}
        none={
          <Empty title="No templates yet" action={create}>
            Write an email once, then send it from workflows and your own code.
          </Empty>
        }
        noneFits="No templates match"
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
          { key: 'subject', title: 'Subject', cell: ({ subject }) => <span dir="auto">{subjectText(subject)}</span> },
          { key: 'type', title: 'Type', cell: ({ type }) => typeNames[type] },
          { key: 'changed', title: 'Updated', cell: ({ updatedAt }) => <Timestamp at={updatedAt} /> },
        ]}
      />
    </Page>
  );
}
