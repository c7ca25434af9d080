import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useFilters, useProjectId } from '../../app/address.ts';
import { useContactFields } from '../../app/contact-fields.ts';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { Card, Page } from '../../ui/Page.tsx';
import { SearchField } from '../../ui/SearchField.tsx';
import { Empty, Note, Shown } from '../../ui/States.tsx';
import { Table } from '../../ui/Table.tsx';
import { toast } from '../../ui/toasts.tsx';
import { counted, rate } from '../../words/numbers.ts';

const typeNames = { string: 'Text', number: 'Number', boolean: 'Yes or no', date: 'Date' } as const;

/** Lists the fields of contacts, how many contacts have each, and where it is used. */
export function Fields() {
  const project = useProjectId();
  const [{ search = '', field }, change] = useFilters();
  const fields = useContactFields();
  return (
    <Page
      title="Contact fields"
      about="Fields of your contacts, for segments and for variables in emails."
      above={
        <Link to="/app/$project/contacts" params={{ project }}>
          Contacts
        </Link>
      }
    >
      <div className="filters">
        <SearchField label="Search fields" value={search} onChange={(text) => change({ search: text })} />
      </div>
      <div className="stack">
        {field ? (
          <Usage key={field} project={project} field={field} onClose={() => change({ field: undefined })} />
        ) : null}
        <Shown query={fields}>
          {(found) => {
            const shown = found.fields.filter((each) => each.field.toLowerCase().includes(search.toLowerCase()));
            return shown.length === 0 ? (
              <Empty title="No fields match">Try a different search.</Empty>
            ) : (
              <Table
                label="Fields"
                rows={shown}
                rowKey={(each) => each.field}
                columns={[
                  { key: 'field', title: 'Field', cell: (each) => <code dir="auto">{each.field}</code> },
                  { key: 'type', title: 'Type', cell: ({ type }) => typeNames[type] },
                  { key: 'coverage', title: 'Filled', number: true, cell: ({ coverage }) => rate(coverage) },
                  {
                    key: 'usage',
                    title: 'Usage',
                    cell: (each) =>
                      each.isCustom ? (
                        <Button
                          size="small"
                          aria-label={`View usage of ${each.field}`}
                          onClick={() => change({ field: each.field })}
                        >
                          View usage
                        </Button>
                      ) : (
                        <span className="muted">Built in</span>
                      ),
                  },
                ]}
              />
            );
          }}
        </Shown>
      </div>
    </Page>
  );
}

function Usage({ project, field, onClose }: { project: string; field: string; onClose: () => void }) {
  const [asking, setAsking] = useState(false);
  const queries = useQueryClient();
  const params = { path: { field } };
  const usage = useQuery({
    queryKey: ['contacts', project, 'fields', 'usage', field],
    queryFn: () => answer(api.GET('/contacts/fields/{field}/usage', { params })),
  });
  const remove = async () => {
    const { deletedFrom } = await answer(api.DELETE('/contacts/fields/{field}', { params }));
    toast(`“${field}” removed from ${counted(deletedFrom, 'contact')}`);
    onClose();
    await queries.invalidateQueries({ queryKey: ['contacts', project] });
  };
  return (
    <Card title={<code dir="auto">{field}</code>}>
      <Shown query={usage}>
        {(result) => {
          const users = [
            ['Segments', result.usedInSegments],
            ['Campaigns', result.usedInCampaigns],
            ['Workflows', result.usedInWorkflows],
          ] as const;
          return (
            <div className="stack">
              <p>{counted(result.contactCount, 'contact')} have this field.</p>
              {result.canDelete ? null : (
                <Note>
                  <p>This field is in use and can’t be deleted:</p>
                  <dl className="facts">
                    {users
                      .filter(([, uses]) => uses.length > 0)
                      .map(([name, uses]) => (
                        <div key={name} className="row">
                          <dt>{name}</dt>
                          <dd>{uses.map((use) => use.name).join(', ')}</dd>
                        </div>
                      ))}
                  </dl>
                </Note>
              )}
              <div className="row">
                {result.canDelete ? (
                  <Button variant="danger" size="small" onClick={() => setAsking(true)}>
                    Delete from all contacts
                  </Button>
                ) : null}
                <Button size="small" onClick={onClose}>
                  Close
                </Button>
              </div>
              {asking ? (
                <ConfirmDialog
                  title={`Delete the field ${field}?`}
                  action={`Delete from ${counted(result.contactCount, 'contact')}`}
                  typed={field}
                  onConfirm={remove}
                  onClose={() => setAsking(false)}
                >
                  All values of {field} are deleted permanently. The contacts are kept.
                </ConfirmDialog>
              ) : null}
            </div>
          );
        }}
      </Shown>
    </Card>
  );
}
