import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { Button } from '../../../ui/Button.tsx';
import { ConfirmDialog } from '../../../ui/Dialog.tsx';
import { Problem } from '../../../ui/States.tsx';
import { toast } from '../../../ui/toasts.tsx';
import { WhyButton } from '../../explain/Why.tsx';
import { useMayAdminister } from '../../settings/project.ts';
import { PrivacyMenu } from '../erase/PrivacyMenu.tsx';
import type { Contact } from '../list/list.ts';
import { Resubscribe, useLeft } from '../Resubscribe.tsx';

/** The actions for a contact as a whole. */
export function Actions({ contact, onChanged }: { contact: Contact; onChanged: () => Promise<void> }) {
  const { id, email, subscribed } = contact;
  const project = useProjectId();
  const isAdmin = useMayAdminister();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<'delete' | 'resubscribe' | null>(null);
  const path = { id };
  const left = useLeft(id, subscribed);
  const flip = useMutation({
    mutationFn: (change: { subscribed: boolean; reason?: string }) =>
      answer(api.PATCH('/contacts/{id}', { params: { path }, body: change })),
    onSuccess: async (changed) => {
      toast(`${changed.email} is ${changed.subscribed ? 'subscribed' : 'unsubscribed'}`);
      await onChanged();
    },
  });
  // Asked for by a toast, when this page is gone.
  const restore = useMutation({
    mutationFn: () => answer(api.POST('/contacts/{id}/restore', { params: { path } })),
    onSuccess: async () => {
      toast(`${email} restored`);
      await queries.invalidateQueries({ queryKey: ['contacts', project] });
      await navigate({ to: '/app/$project/contacts/$contact', params: { project, contact: id } });
    },
    onError: ({ message }) => toast(message, 'bad'),
  });
  const remove = async () => {
    await answer(api.DELETE('/contacts/{id}', { params: { path, query: { restorable: true } } }));
    toast(`${email} deleted`, 'good', { text: 'Undo', run: () => restore.mutate() });
    await navigate({ to: '/app/$project/contacts', params: { project } });
    await queries.invalidateQueries({ queryKey: ['contacts', project] });
  };
  return (
    <>
      <WhyButton contact={id} about={{ topic: 'any' }} />
      <Button
        busy={flip.isPending}
        // Not before it is known whether they have left.
        disabled={!subscribed && left.data === undefined}
        onClick={() => (left.data && !subscribed ? setDialog('resubscribe') : flip.mutate({ subscribed: !subscribed }))}
      >
        {subscribed ? 'Unsubscribe' : 'Subscribe'}
      </Button>
      {isAdmin ? <PrivacyMenu id={id} email={email} /> : null}
      <Button variant="danger" onClick={() => setDialog('delete')}>
        Delete
      </Button>
      {flip.error && dialog === null ? <Problem error={flip.error} /> : null}
      {dialog === 'resubscribe' && left.data ? (
        <Resubscribe
          email={email}
          left={left.data}
          onConfirm={(reason) => flip.mutateAsync({ subscribed: true, reason })}
          onClose={() => setDialog(null)}
        />
      ) : null}
      {dialog === 'delete' ? (
        <ConfirmDialog
          title={`Delete ${email}?`}
          action="Delete contact"
          onConfirm={remove}
          onClose={() => setDialog(null)}
        >
          {email} is deleted with all events, emails and segment memberships. Running workflows for this contact stop.
          You can undo this for 7 days. To remove everything for good, erase the contact instead.
        </ConfirmDialog>
      ) : null}
    </>
  );
}
