import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { ConfirmDialog } from '../../../ui/Dialog.tsx';
import { TextField } from '../../../ui/Field.tsx';
import { toast } from '../../../ui/toasts.tsx';
import { refreshWorkflows, type Workflow } from '../workflow.ts';

/** Pauses an automation, or lets a paused one go on over some minutes. */
export function PauseDialog({
  workflow: { id, name, pausedAt },
  onClose,
}: {
  workflow: Pick<Workflow, 'id' | 'name' | 'pausedAt'>;
  onClose: () => void;
}) {
  const project = useProjectId();
  const queries = useQueryClient();
  const [minutes, setMinutes] = useState('0');
  const isPaused = pausedAt !== null;
  const params = { path: { id } };
  const act = () =>
    isPaused
      ? api.POST('/workflows/{id}/resume', { params, body: { spreadMinutes: Number(minutes) } })
      : api.POST('/workflows/{id}/pause', { params });
  return (
    <ConfirmDialog
      title={`${isPaused ? 'Resume' : 'Pause'} ${name}?`}
      action={isPaused ? 'Resume' : 'Pause'}
      wayOut={isPaused ? 'Keep paused' : 'Keep running'}
      variant="primary"
      isReady={/^\d{1,5}$/.test(minutes)}
      onConfirm={async () => {
        await answer(act());
        toast(`${name} ${isPaused ? 'continues' : 'is paused'}`);
        await refreshWorkflows(queries, project);
      }}
      onClose={onClose}
    >
      {isPaused ? (
        <TextField
          label="Spread over minutes"
          hint="Contacts whom the pause held continue evenly over this time; 0 continues all at once."
          type="number"
          min={0}
          max={10_080}
          value={minutes}
          onChange={(event) => setMinutes(event.target.value)}
        />
      ) : (
        'Contacts stay at their step and no email is sent by a further step. Contacts who would enter are queued. Nothing is lost.'
      )}
    </ConfirmDialog>
  );
}
