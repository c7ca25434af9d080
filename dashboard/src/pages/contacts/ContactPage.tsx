import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useFilters, useProjectId } from '../../app/address.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { EndlessRows } from '../../ui/EndlessRows.tsx';
import { Card, Page } from '../../ui/Page.tsx';
import { ShownPage } from '../../ui/ShownPage.tsx';
import { Empty, Problem } from '../../ui/States.tsx';
import { Tabs } from '../../ui/Tabs.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { toast } from '../../ui/toasts.tsx';
import { ActivityRow } from '../activity/ActivityRow.tsx';
import { isToldTwice } from '../activity/kinds.ts';
import { WhyButton } from '../explain/Why.tsx';
import { ContactData } from './ContactData.tsx';
import { ContactHistory } from './ContactHistory.tsx';
import { Resubscribe, useLeft } from './Resubscribe.tsx';

/** One person: who they are, what is known of them, and their whole story. */
export function ContactPage() {
  const project = useProjectId();
  const { contact: id = '' } = useParams({ strict: false });
  const [{ tab }, change] = useFilters();
  const [dialog, setDialog] = useState<'delete' | 'resubscribe' | null>(null);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const path = { id };
  const contact = useQuery({
    queryKey: ['contacts', project, id],
    queryFn: () => answer(api.GET('/contacts/{id}', { params: { path } })),
  });
  const refresh = async () => {
    await queries.invalidateQueries({ queryKey: ['contacts', project] });
    await queries.invalidateQueries({ queryKey: ['activity', project, id] });
  };
  const left = useLeft(id, contact.data?.subscribed ?? true);
  const flip = useMutation({
    mutationFn: (change: { subscribed: boolean; reason?: string }) =>
      answer(api.PATCH('/contacts/{id}', { params: { path }, body: change })),
    onSuccess: async ({ email, subscribed }) => {
      toast(`${email} is ${subscribed ? 'subscribed' : 'unsubscribed'}`);
      await refresh();
    },
  });
  const remove = async () => {
    await answer(api.DELETE('/contacts/{id}', { params: { path } }));
    toast(`${contact.data?.email ?? 'Contact'} deleted`);
    await navigate({ to: '/app/$project/contacts', params: { project } });
    await queries.invalidateQueries({ queryKey: ['contacts', project] });
  };
  const above = (
    <Link to="/app/$project/contacts" params={{ project }}>
      Contacts
    </Link>
  );
  return (
    <ShownPage query={contact} above={above}>
      {(person) => (
        <Page
          title={person.email}
          above={above}
          actions={
            <>
              <WhyButton contact={person.id} about={{ topic: 'any' }} />
              <Button
                busy={flip.isPending}
                // Not before it is known whether they have left.
                disabled={!person.subscribed && left.data === undefined}
                onClick={() =>
                  left.data && !person.subscribed
                    ? setDialog('resubscribe')
                    : flip.mutate({ subscribed: !person.subscribed })
                }
              >
                {person.subscribed ? 'Unsubscribe' : 'Subscribe'}
              </Button>
              <Button look="danger" onClick={() => setDialog('delete')}>
                Delete
              </Button>
            </>
          }
        >
          <div className="stack">
            {flip.error ? <Problem error={flip.error} /> : null}
            <div className="stretch">
              <Card title="Profile">
                <dl className="facts">
                  <dt>Email</dt>
                  <dd>{person.email}</dd>
                  <dt>Marketing email</dt>
                  <dd>
                    <Badge tone={person.subscribed ? 'good' : undefined}>
                      {person.subscribed ? 'Subscribed' : 'Not subscribed'}
                    </Badge>
                  </dd>
                  <dt>Emails</dt>
                  <dd>
                    <Link to="/app/$project/emails" params={{ project }} search={{ to: person.email }}>
                      All emails to this contact
                    </Link>
                  </dd>
                  <dt>Added</dt>
                  <dd>
                    <Timestamp at={person.createdAt} />
                  </dd>
                  <dt>Last updated</dt>
                  <dd>
                    <Timestamp at={person.updatedAt} />
                  </dd>
                  <dt>ID</dt>
                  <dd>
                    <code>{person.id}</code>
                  </dd>
                </dl>
              </Card>
              <ContactData contact={person} onSaved={refresh} />
            </div>
            <Tabs
              label="About this contact"
              value={tab === 'history' ? 'history' : 'activity'}
              tabs={[
                { key: 'activity', name: 'Activity', content: <Story project={project} contact={id} /> },
                { key: 'history', name: 'History', content: <ContactHistory contact={id} /> },
              ]}
              onChange={(key) => change({ tab: key })}
            />
          </div>
          {dialog === 'resubscribe' && left.data ? (
            <Resubscribe
              email={person.email}
              left={left.data}
              onConfirm={(reason) => flip.mutateAsync({ subscribed: true, reason })}
              onClose={() => setDialog(null)}
            />
          ) : null}
          {dialog === 'delete' ? (
            <ConfirmDialog
              title={`Delete ${person.email}?`}
              action="Delete contact"
              onConfirm={remove}
              onClose={() => setDialog(null)}
            >
              {person.email} is deleted with all events, emails and segment memberships. Running workflows for this
              contact stop.
            </ConfirmDialog>
          ) : null}
        </Page>
      )}
    </ShownPage>
  );
}

function Story({ project, contact }: { project: string; contact: string }) {
  const story = useInfiniteQuery({
    queryKey: ['activity', project, contact],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      answer(
        api.GET('/activity', {
          params: {
            query: { limit: 50, cursor: pageParam, contactId: contact, startDate: '2000-01-01T00:00:00.000Z' },
          },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.cursor,
  });
  return (
    <EndlessRows
      label="Activity of this contact"
      query={story}
      rowsOf={(page) => page.data.filter((item) => !isToldTwice(item))}
      rowKey={({ id }) => id}
      empty={<Empty title="No activity yet">Emails, events and workflows of this contact appear here.</Empty>}
    >
      {(item) => <ActivityRow item={item} who={false} />}
    </EndlessRows>
  );
}
