import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { toast } from '../../ui/toasts.tsx';
import { type Email, mayHaveArrived } from './email.ts';

/** Sends a mail that failed once more, and goes to the new one. */
export function ResendDialog({ email, onClose }: { email: Email; onClose: () => void }) {
  const { id, to } = email;
  const project = useProjectId();
  const queries = useQueryClient();
  const navigate = useNavigate();
  // One for the dialog: pressing twice, or a request that is repeated, sends nothing twice.
  const [key] = useState(() => `resend-${id}-${crypto.getRandomValues(new Uint32Array(2)).join('-')}`);
  const evenIfItArrived = mayHaveArrived(email);
  return (
    <ConfirmDialog
      title={evenIfItArrived ? `Send to ${to} again? It may arrive twice.` : `Send to ${to} again?`}
      action="Resend email"
      variant={evenIfItArrived ? 'danger' : 'primary'}
      onConfirm={async () => {
        const resent = await answer(
          api.POST('/emails/{id}/resend', {
            params: { path: { id }, header: { 'Idempotency-Key': key } },
            body: { evenIfItArrived },
          }),
        );
        toast(`The email to ${to} is queued again`);
        await queries.invalidateQueries({ queryKey: ['emails', project] });
        await navigate({ to: '/app/$project/emails/$email', params: { project, email: resent.id } });
      }}
      onClose={onClose}
    >
      The content goes out as a new email. Consent, suppression rules and your monthly limit are checked again.
    </ConfirmDialog>
  );
}
