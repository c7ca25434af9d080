import { useMutation, useQuery } from '@tanstack/react-query';
import { answer, api } from '../../../api/client.ts';
import { Badge } from '../../../ui/Badge.tsx';
import { Card } from '../../../ui/Page.tsx';
import { Problem } from '../../../ui/States.tsx';
import { Timestamp } from '../../../ui/Timestamp.tsx';
import { toast } from '../../../ui/toasts.tsx';
import type { Contact } from '../list/list.ts';
import { InPlace } from './InPlace.tsx';

/** Who a contact is; the address is edited in place. */
export function Profile({ contact, onSaved }: { contact: Contact; onSaved: () => Promise<void> }) {
  const rename = useMutation({
    mutationFn: (email: string) =>
      answer(api.PATCH('/contacts/{id}', { params: { path: { id: contact.id } }, body: { email } })),
    onSuccess: async () => {
      toast('Email address saved');
      await onSaved();
    },
  });
  const { data: holdout } = useQuery({
    queryKey: ['holdout', 'contact', contact.id],
    queryFn: () => answer(api.GET('/contacts/{id}/holdout', { params: { path: { id: contact.id } } })),
  });
  return (
    <Card title="Profile">
      <dl className="facts">
        <dt>Email</dt>
        <dd>
          <InPlace
            label="Email address"
            value={contact.email}
            type="email"
            onSave={(email) => rename.mutateAsync(email.trim())}
          />
          {rename.error ? <Problem error={rename.error} /> : null}
        </dd>
        <dt>Marketing email</dt>
        <dd>
          <Badge tone={contact.subscribed ? 'good' : undefined}>
            {contact.subscribed ? 'Subscribed' : 'Not subscribed'}
          </Badge>
        </dd>
        {holdout?.heldOut ? (
          <>
            <dt>Control group</dt>
            <dd>
              Gets no marketing email
              {holdout.until === null ? null : (
                <>
                  {' '}
                  until <Timestamp at={holdout.until} />
                </>
              )}
            </dd>
          </>
        ) : null}
        <dt>Added</dt>
        <dd>
          <Timestamp at={contact.createdAt} />
        </dd>
        <dt>Last updated</dt>
        <dd>
          <Timestamp at={contact.updatedAt} />
        </dd>
        <dt>ID</dt>
        <dd>
          <code>{contact.id}</code>
        </dd>
      </dl>
    </Card>
  );
}
