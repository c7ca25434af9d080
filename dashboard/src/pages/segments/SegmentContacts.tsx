import { contactName } from '@fernpost/email-document/contact-name';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useFilters, useProjectId } from '../../app/address.ts';
import { PagedTable } from '../../app/PagedTable.tsx';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { NamedAddress } from '../../ui/NamedAddress.tsx';
import { Empty } from '../../ui/States.tsx';
import type { Column } from '../../ui/Table.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import type { Segment } from './segment.ts';

interface Member {
  id: string;
  email: string;
  data: Record<string, unknown>;
  subscribed: boolean;
  createdAt: string;
}

/** The people of a segment, page by page. */
export function SegmentContacts({ segment, onAdd }: { segment: Segment; onAdd: () => void }) {
  const { id, type } = segment;
  const project = useProjectId();
  const queries = useQueryClient();
  const [{ page }] = useFilters();
  const [leaving, setLeaving] = useState<string | null>(null);
  const contacts = useQuery({
    queryKey: ['segments', project, id, 'contacts', page],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      answer(
        api.GET('/segments/{id}/contacts', {
          params: { path: { id }, query: { page: Number(page ?? 1), pageSize: 50 } },
          signal,
        }),
      ),
  });
  const columns: Column<Member>[] = [
    {
      key: 'contact',
      title: 'Contact',
      cell: (contact) => (
        <Link to="/app/$project/contacts/$contact" params={{ project, contact: contact.id }}>
          <NamedAddress name={contactName(contact.data)} email={contact.email} />
        </Link>
      ),
    },
    {
      key: 'subscribed',
      title: 'Subscription',
      cell: ({ subscribed }) => (
        <Badge tone={subscribed ? 'good' : undefined}>{subscribed ? 'Subscribed' : 'Not subscribed'}</Badge>
      ),
    },
    { key: 'created', title: 'Created', cell: ({ createdAt }) => <Timestamp at={createdAt} /> },
  ];
  if (type === 'STATIC')
    columns.push({
      key: 'remove',
      title: 'Membership',
      cell: ({ email }) => (
        <Button size="small" aria-label={`Remove ${email}`} onClick={() => setLeaving(email)}>
          Remove
        </Button>
      ),
    });
  return (
    <>
      <PagedTable
        label="Contacts in the segment"
        query={contacts}
        columns={columns}
        none={
          type === 'STATIC' ? (
            <Empty title="No contacts in this segment yet" action={<Button onClick={onAdd}>Add contacts</Button>} />
          ) : (
            <Empty title="No contacts match">Edit the conditions to include more contacts.</Empty>
          )
        }
        noneFits="No contacts match"
      />
      {leaving ? (
        <ConfirmDialog
          title={`Remove ${leaving}?`}
          action="Remove from segment"
          onConfirm={async () => {
            await answer(
              api.DELETE('/segments/{id}/members', { params: { path: { id } }, body: { emails: [leaving] } }),
            );
            await queries.invalidateQueries({ queryKey: ['segments', project] });
          }}
          onClose={() => setLeaving(null)}
        >
          {leaving} leaves the segment {segment.name}. The contact is kept.
        </ConfirmDialog>
      ) : null}
    </>
  );
}
