import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useFilters, useProjectId } from '../../app/address.ts';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { count } from '../../ui/numbers.ts';
import { Card, Page } from '../../ui/Page.tsx';
import { SearchField } from '../../ui/SearchField.tsx';
import { Empty, Note, Shown } from '../../ui/States.tsx';
import { Table } from '../../ui/Table.tsx';
import { toast } from '../../ui/toasts.tsx';

const typeNames = { string: 'Text', number: 'Number', boolean: 'Yes or no', date: 'Date' } as const;

/** What is known of contacts: the fields of their data, how many have each, and who relies on it. */
export function Fields() {
  const project = useProjectId();
  const [{ search = '', field }, change] = useFilters();
  const fields = useQuery({
    queryKey: ['contacts', project, 'fields'],
    queryFn: () => answer(api.GET('/contacts/fields')),
  });
  return (
    <Page
      title="Contact fields"
      about="Every field that a contact of this project has, for segments and for placeholders in mail."
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
              <Empty title="No field fits">Try a shorter part of the name.</Empty>
            ) : (
              <Table
                label="Fields"
                rows={shown}
                rowKey={(each) => each.field}
                columns={[
                  { key: 'field', title: 'Field', cell: (each) => <code dir="auto">{each.field}</code> },
                  { key: 'type', title: 'Type', cell: ({ type }) => typeNames[type] },
                  { key: 'coverage', title: 'Have a value', number: true, cell: ({ coverage }) => `${coverage} %` },
                  {
                    key: 'usage',
                    title: 'Usage',
                    cell: (each) =>
                      each.isCustom ? (
                        <Button
                          size="small"
                          aria-label={`Who uses it: ${each.field}`}
                          onClick={() => change({ field: each.field })}
                        >
                          Who uses it
                        </Button>
                      ) : (
                        <span className="muted">Part of every contact</span>
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
    toast(`“${field}” removed from ${count(deletedFrom)} contacts`);
    onClose();
    await queries.invalidateQueries({ queryKey: ['contacts', project] });
  };
  return (
    <Card title={<code dir="auto">{field}</code>}>
      <Shown query={usage}>
        {(told) => {
          const users = [
            ['Segments', told.usedInSegments],
            ['Campaigns', told.usedInCampaigns],
            ['Workflows', told.usedInWorkflows],
          ] as const;
          return (
            <div className="stack">
              <p>{count(told.contactCount)} contacts have it.</p>
              {told.canDelete ? null : (
                <Note>
                  <p>It is used, so it cannot be removed:</p>
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
                {told.canDelete ? (
                  <Button look="danger" size="small" onClick={() => setAsking(true)}>
                    Remove from every contact
                  </Button>
                ) : null}
                <Button size="small" onClick={onClose}>
                  Close
                </Button>
              </div>
              {asking ? (
                <ConfirmDialog
                  title={`Remove ${field}`}
                  action={`Remove it from ${count(told.contactCount)} contacts`}
                  typed={field}
                  onConfirm={remove}
                  onClose={() => setAsking(false)}
                >
                  The value of {field} is deleted from {count(told.contactCount)} contacts for good. The contacts stay.
                </ConfirmDialog>
              ) : null}
            </div>
          );
        }}
      </Shown>
    </Card>
  );
}
