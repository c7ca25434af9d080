import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useFilters, useProjectId } from '../../app/address.ts';
import { ChoiceFilter } from '../../app/filters.tsx';
import { Address } from '../../ui/Address.tsx';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { Card, Page } from '../../ui/Page.tsx';
import { Empty, Note, Shown } from '../../ui/States.tsx';
import { Table } from '../../ui/Table.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { toast } from '../../ui/toasts.tsx';
import { eventText } from '../../words/events.ts';
import { count, counted } from '../../words/numbers.ts';
import { EventData } from './EventData.tsx';

const most = 100;

/** Lists event names with their counts, and the newest event of each. */
export function Events() {
  const project = useProjectId();
  const [{ name }, change] = useFilters();
  const stats = useQuery({
    queryKey: ['events', project, 'stats'],
    queryFn: () => answer(api.GET('/events/stats')),
  });
  const newest = useQuery({
    queryKey: ['events', project, 'newest', name],
    queryFn: () => answer(api.GET('/events', { params: { query: { eventName: name, limit: most } } })),
  });
  return (
    <Page title="Events" about="Tracked by your application and recorded by Fernpost.">
      <div className="filters">
        <ChoiceFilter
          name="name"
          label="Event"
          all="All events"
          choices={(stats.data ?? []).map((each) => [each.name, `${eventText(each.name)} (${count(each.count)})`])}
        />
      </div>
      <div className="stack">
        {name ? <Usage project={project} name={name} onDeleted={() => change({ name: undefined })} /> : null}
        <Shown query={newest}>
          {({ events }) =>
            events.length === 0 ? (
              <Empty title="No events yet">
                Call POST /v1/track with your public key. New contacts are created automatically.
              </Empty>
            ) : (
              <>
                {events.length === most ? <p className="muted">The newest {count(most)}:</p> : null}
                <Table
                  label="Newest events"
                  rows={events}
                  rowKey={({ id }) => id}
                  columns={[
                    { key: 'name', title: 'Event', cell: (event) => <span dir="auto">{eventText(event.name)}</span> },
                    {
                      key: 'who',
                      title: 'Contact',
                      cell: ({ contact, contactId }) =>
                        contact && contactId ? (
                          <Link to="/app/$project/contacts/$contact" params={{ project, contact: contactId }}>
                            <Address>{contact.email}</Address>
                          </Link>
                        ) : (
                          '–'
                        ),
                    },
                    {
                      key: 'data',
                      title: 'Data',
                      cell: ({ data }) => <EventData data={data} />,
                    },
                    { key: 'at', title: 'Date', cell: (event) => <Timestamp at={event.createdAt} /> },
                  ]}
                />
              </>
            )
          }
        </Shown>
      </div>
    </Page>
  );
}

function Usage({ project, name, onDeleted }: { project: string; name: string; onDeleted: () => void }) {
  const [asking, setAsking] = useState(false);
  const queries = useQueryClient();
  const usage = useQuery({
    queryKey: ['events', project, 'usage', name],
    queryFn: () => answer(api.GET('/events/{eventName}/usage', { params: { path: { eventName: name } } })),
  });
  const remove = async () => {
    const { deletedCount } = await answer(api.DELETE('/events/{eventName}', { params: { path: { eventName: name } } }));
    toast(`${counted(deletedCount, 'event')} deleted`);
    onDeleted();
    await queries.invalidateQueries({ queryKey: ['events', project] });
  };
  return (
    <Card title={eventText(name)}>
      <Shown query={usage}>
        {(result) => (
          <div className="stack">
            <p>
              {counted(result.totalCount, 'event')} from {counted(result.uniqueContacts, 'contact')}.
            </p>
            {result.canDelete ? (
              <div>
                <Button variant="danger" size="small" onClick={() => setAsking(true)}>
                  <Trash2 aria-hidden /> Delete events
                </Button>
              </div>
            ) : (
              <Note>
                Used by{' '}
                {[...result.usedInSegments, ...result.usedInWorkflows].map((user) => user.name).join(', ') ||
                  'Fernpost itself'}
                , so these events can’t be deleted.
              </Note>
            )}
            {asking ? (
              <ConfirmDialog
                title={`Delete all “${eventText(name)}” events?`}
                action={`Delete ${counted(result.totalCount, 'event')}`}
                onConfirm={remove}
                onClose={() => setAsking(false)}
              >
                {counted(result.totalCount, 'event')} of {counted(result.uniqueContacts, 'contact')} are deleted
                permanently.
              </ConfirmDialog>
            ) : null}
          </div>
        )}
      </Shown>
    </Card>
  );
}
