import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { TextField } from '../../ui/Field.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';

interface Left {
  at: string;
  /** By the link in an email, and not by a team member, the API or a bounce. */
  byLink: boolean;
  /** Why it happened, where the event says so. */
  reason: string | null;
}

/** When and how a contact has unsubscribed, if that is the latest change of the subscription. */
export function useLeft(contact: string, isSubscribed: boolean) {
  const project = useProjectId();
  return useQuery({
    queryKey: ['contacts', project, contact, 'left'],
    enabled: !isSubscribed,
    queryFn: async (): Promise<Left | null> => {
      const params = { path: { contactId: contact }, query: { limit: 100 } };
      const { events } = await answer(api.GET('/events/contact/{contactId}', { params }));
      const latest = events.find(({ name }) => name === 'contact.unsubscribed' || name === 'contact.subscribed');
      if (latest?.name !== 'contact.unsubscribed') return null;
      const reason = typeof latest.data?.reason === 'string' ? latest.data.reason : null;
      return { at: latest.createdAt, byLink: latest.emailId !== null && reason === null, reason };
    },
  });
}

/** Asks for a reason before somebody who has unsubscribed is subscribed again. */
export function Resubscribe({
  email,
  left,
  onConfirm,
  onClose,
}: {
  email: string;
  left: Left;
  onConfirm: (reason: string) => Promise<unknown>;
  onClose: () => void;
}) {
  const [reason, setReason] = useState('');
  return (
    <ConfirmDialog
      title={`Resubscribe ${email}?`}
      action="Resubscribe"
      wayOut="Keep unsubscribed"
      variant="primary"
      isReady={reason.trim() !== ''}
      onConfirm={() => onConfirm(reason.trim())}
      onClose={onClose}
    >
      <div className="stack">
        <p>
          {left.byLink ? 'This contact unsubscribed with the link in an email' : 'This contact was unsubscribed'}
          {left.reason === null ? '' : ` (${left.reason})`} <Timestamp at={left.at} />. Only resubscribe with their
          consent.
        </p>
        <TextField
          label="Reason"
          hint="Kept in the contact’s activity."
          required
          maxLength={500}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      </div>
    </ConfirmDialog>
  );
}
