import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { ConfirmDialog } from '../../../ui/Dialog.tsx';
import { CheckField, TextField } from '../../../ui/Field.tsx';

/** Asks before a contact is erased, and then shows how far that is. */
export function EraseDialog({ id, email, onClose }: { id: string; email: string; onClose: () => void }) {
  const project = useProjectId();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [reference, setReference] = useState('');
  const [keepSuppressed, setKeepSuppressed] = useState(true);
  const erase = async () => {
    const body = { reference: reference.trim() || null, keepSuppressed };
    const { id: erasure } = await answer(api.POST('/contacts/{id}/erase', { params: { path: { id } }, body }));
    await navigate({ to: '/app/$project/erasures/$erasure', params: { project, erasure } });
    queries.removeQueries({ queryKey: ['contacts', project, id] });
    await queries.invalidateQueries({ queryKey: ['contacts', project] });
  };
  return (
    <ConfirmDialog
      title={`Erase ${email} permanently?`}
      action="Erase contact"
      typed={email}
      onConfirm={erase}
      onClose={onClose}
    >
      <div className="stack">
        <p>
          The contact, its history and the contents of its events and emails are removed everywhere. Counts in campaigns
          stay. This can’t be undone. You get a signed certificate.
        </p>
        <TextField
          label="Reference"
          hint="Optional, such as a ticket number. It is kept, so don’t include personal data."
          maxLength={200}
          value={reference}
          onChange={(event) => setReference(event.target.value)}
        />
        <CheckField
          label="Keep the address suppressed"
          hint="No one can add it or send to it again. Imports never bring it back either way."
          checked={keepSuppressed}
          onChange={(event) => setKeepSuppressed(event.target.checked)}
        />
      </div>
    </ConfirmDialog>
  );
}
