import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Upload, UserPlus } from 'lucide-react';
import { answer, api } from '../../api/client.ts';
import { useDialog, useFilters, useProjectId } from '../../app/address.ts';
import { ChoiceFilter, SearchFilter } from '../../app/filters.tsx';
import { Address } from '../../ui/Address.tsx';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { EndlessRows } from '../../ui/EndlessRows.tsx';
import { Page } from '../../ui/Page.tsx';
import { Empty } from '../../ui/States.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { counted } from '../../words/numbers.ts';
import { BulkMenu } from './BulkMenu.tsx';
import { ImportDialog } from './ImportDialog.tsx';
import { NewContactDialog } from './NewContactDialog.tsx';

/** Everybody in the audience, newest first. */
export function Contacts() {
  const project = useProjectId();
  const [{ search, subscribed }] = useFilters();
  const [dialog, setDialog] = useDialog();
  const close = () => setDialog(null);
  const queries = useQueryClient();
  const refresh = () => void queries.invalidateQueries({ queryKey: ['contacts', project] });
  const contacts = useInfiniteQuery({
    queryKey: ['contacts', project, { search, subscribed }],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      answer(
        api.GET('/contacts', {
          params: {
            query: {
              limit: 100,
              cursor: pageParam,
              search,
              ...(subscribed ? { subscribed: subscribed === 'true' } : {}),
            },
          },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.cursor ?? undefined,
  });
  const total = contacts.data?.pages[0]?.total;
  const isFiltered = Boolean(search || subscribed);
  return (
    <Page
      title="Contacts"
      about={
        total === undefined ? undefined : isFiltered ? `${counted(total, 'contact')} match` : counted(total, 'contact')
      }
      actions={
        <>
          <Button onClick={() => setDialog('add')}>
            <UserPlus aria-hidden /> Add contact
          </Button>
          <Button look="primary" onClick={() => setDialog('import')}>
            <Upload aria-hidden /> Import
          </Button>
        </>
      }
    >
      <div className="filters">
        <SearchFilter label="Search contacts" />
        <ChoiceFilter
          name="subscribed"
          label="Subscription"
          all="All contacts"
          choices={[
            ['true', 'Subscribed'],
            ['false', 'Not subscribed'],
          ]}
        />
        <div className="row">
          <BulkMenu filter={{ search, subscribed }} total={total ?? 0} onDone={refresh} />
        </div>
      </div>
      <EndlessRows
        label="Contacts"
        query={contacts}
        rowsOf={(page) => page.data}
        rowKey={({ id }) => id}
        empty={
          isFiltered ? (
            <Empty title="No contacts match">Try a different search, or clear the filters.</Empty>
          ) : (
            <Empty title="No contacts yet">
              Contacts appear here when you import a file, track an event or send an email.
            </Empty>
          )
        }
      >
        {(contact) => (
          <div className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-3 sm:grid-cols-[minmax(0,1fr)_9rem_12rem]">
            <Link className="break" to="/app/$project/contacts/$contact" params={{ project, contact: contact.id }}>
              <Address>{contact.email}</Address>
            </Link>
            <Badge tone={contact.subscribed ? 'good' : undefined}>
              {contact.subscribed ? 'Subscribed' : 'Not subscribed'}
            </Badge>
            <span className="hidden text-sm text-muted sm:inline">
              Added <Timestamp at={contact.createdAt} />
            </span>
          </div>
        )}
      </EndlessRows>
      {dialog === 'import' ? <ImportDialog onClose={close} onDone={refresh} /> : null}
      {dialog === 'add' ? <NewContactDialog onClose={close} onDone={refresh} /> : null}
    </Page>
  );
}
