import { useQuery } from '@tanstack/react-query';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { Empty, Shown } from '../../../ui/States.tsx';
import { Table } from '../../../ui/Table.tsx';
import { Timestamp } from '../../../ui/Timestamp.tsx';
import { eventText } from '../../../words/events.ts';
import { count } from '../../../words/numbers.ts';
import { EventData } from '../../events/EventData.tsx';

const most = 200;

/** The latest events of a contact, with their data. */
export function ContactEvents({ contact }: { contact: string }) {
  const project = useProjectId();
  const events = useQuery({
    queryKey: ['events', project, 'contact', contact],
    queryFn: () =>
      answer(
        api.GET('/events/contact/{contactId}', { params: { path: { contactId: contact }, query: { limit: most } } }),
      ),
  });
  return (
    <Shown query={events}>
      {({ events: found }) =>
        found.length === 0 ? (
          <Empty title="No events yet">Track events to see what this contact does.</Empty>
        ) : (
          <div className="stack">
            <Table
              label="Events of this contact"
              rows={found}
              rowKey={({ id }) => id}
              columns={[
                { key: 'name', title: 'Event', cell: ({ name }) => <span dir="auto">{eventText(name)}</span> },
                { key: 'at', title: 'When', cell: ({ createdAt }) => <Timestamp at={createdAt} /> },
                { key: 'data', title: 'Data', cell: ({ data }) => <EventData data={data} /> },
              ]}
            />
            {found.length === most ? <p className="muted">The latest {count(most)} events are shown.</p> : null}
          </div>
        )
      }
    </Shown>
  );
}
