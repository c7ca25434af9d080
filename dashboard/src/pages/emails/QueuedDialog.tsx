import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog, Dialog } from '../../ui/Dialog.tsx';
import { TextField } from '../../ui/Field.tsx';
import { Form, FormProblem, problemOf } from '../../ui/Form.tsx';
import { toast } from '../../ui/toasts.tsx';
import { localText, ownZone } from '../../words/times.ts';
import type { EmailSummary } from './email.ts';

/** The actions for mail that has not been sent. */
export type QueueChange = 'cancel' | 'release' | 'move';

/** Asks before mail that waits is canceled, sent at once or at another time. */
export function QueuedDialog({
  change,
  email: { id, to, scheduledFor, heldUntil },
  onClose,
}: {
  change: QueueChange;
  email: EmailSummary;
  onClose: () => void;
}) {
  const project = useProjectId();
  const queries = useQueryClient();
  const params = { path: { id } };
  const done = async (text: string) => {
    toast(text);
    await queries.invalidateQueries({ queryKey: ['emails', project] });
  };
  if (change === 'move')
    return <MoveDialog id={id} to={to} at={scheduledFor ?? heldUntil} onDone={done} onClose={onClose} />;
  return change === 'cancel' ? (
    <ConfirmDialog
      title={`Cancel the email to ${to}?`}
      action="Cancel email"
      wayOut="Keep email"
      onConfirm={async () => {
        await answer(api.POST('/emails/{id}/cancel', { params }));
        await done(`The email to ${to} is canceled`);
      }}
      onClose={onClose}
    >
      It is not sent. You can’t undo this.
    </ConfirmDialog>
  ) : (
    <ConfirmDialog
      title={`Send the email to ${to} now?`}
      action="Send now"
      variant="primary"
      onConfirm={async () => {
        await answer(api.POST('/emails/{id}/release', { params }));
        await done(`The email to ${to} is on its way`);
      }}
      onClose={onClose}
    >
      It will be sent immediately instead of at its scheduled time.
    </ConfirmDialog>
  );
}

function MoveDialog({
  id,
  to,
  at,
  onDone,
  onClose,
}: {
  id: string;
  to: string;
  at: string | null;
  onDone: (text: string) => Promise<void>;
  onClose: () => void;
}) {
  const [time, setTime] = useState(localText(at));
  const move = useMutation({
    mutationFn: () =>
      answer(
        api.PATCH('/emails/{id}', {
          params: { path: { id } },
          body: { scheduledFor: new Date(time).toISOString() },
        }),
      ),
    onSuccess: async () => {
      await onDone(`The email to ${to} is rescheduled`);
      onClose();
    },
  });
  return (
    <Dialog title={`Reschedule the email to ${to}`} description="At most 30 days ahead." onClose={onClose}>
      <Form onSubmit={() => move.mutate()}>
        <TextField
          label={`Time (${ownZone()})`}
          type="datetime-local"
          required
          value={time}
          problem={problemOf(move.error, 'scheduledFor')}
          onChange={(event) => setTime(event.target.value)}
        />
        <FormProblem error={move.error} fields={['scheduledFor']} />
        <footer>
          <Button onClick={onClose}>Keep time</Button>
          <Button type="submit" variant="primary" busy={move.isPending}>
            Reschedule email
          </Button>
        </footer>
      </Form>
    </Dialog>
  );
}
