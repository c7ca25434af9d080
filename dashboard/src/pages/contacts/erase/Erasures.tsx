import { Link } from '@tanstack/react-router';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { usePages } from '../../../app/pages.ts';
import { Badge } from '../../../ui/Badge.tsx';
import { EndlessRows } from '../../../ui/EndlessRows.tsx';
import { Page } from '../../../ui/Page.tsx';
import { Empty } from '../../../ui/States.tsx';
import { Timestamp } from '../../../ui/Timestamp.tsx';

const states = {
  RUNNING: { name: 'Running', tone: 'info' },
  WAITING: { name: 'Erased here', tone: 'warn' },
  DONE: { name: 'Done', tone: 'good' },
} as const;

/** Every erasure of the project, the latest first: by its reference, since nobody's address is kept. */
export function Erasures() {
  const project = useProjectId();
  const erasures = usePages({
    queryKey: ['erasures', project],
    fetchPage: (cursor, signal) => answer(api.GET('/erasures', { params: { query: { limit: 50, cursor } }, signal })),
  });
  return (
    <Page
      title="Erasures"
      about="Contacts that were erased, with their certificates."
      above={
        <Link to="/app/$project/contacts" params={{ project }}>
          Contacts
        </Link>
      }
    >
      <EndlessRows
        label="Erasures"
        query={erasures}
        rowsOf={(page) => page.data}
        rowKey={({ id }) => id}
        empty={<Empty title="No erasures yet">Erase a contact from its page, under Privacy.</Empty>}
      >
        {({ id, reference, status, requestedAt, subject }) => (
          <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
            <Link className="break" to="/app/$project/erasures/$erasure" params={{ project, erasure: id }}>
              {reference ?? `Without a reference (${subject.slice(0, 8)})`}
            </Link>
            <span className="row">
              <Badge tone={states[status].tone}>{states[status].name}</Badge>
              <span className="muted">
                <Timestamp at={requestedAt} />
              </span>
            </span>
          </div>
        )}
      </EndlessRows>
    </Page>
  );
}
