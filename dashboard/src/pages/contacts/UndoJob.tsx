import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { Shown } from '../../ui/States.tsx';
import { toast } from '../../ui/toasts.tsx';
import { count, counted } from '../../words/numbers.ts';

/** The button that takes a finished job back, after it has shown what that does. */
export function UndoJob({ kind, jobId }: { kind: 'import' | 'bulk'; jobId: string }) {
  const [isOpen, setOpen] = useState(false);
  const undo = (dryRun: boolean) =>
    answer(
      api.POST(kind === 'import' ? '/contacts/import/{jobId}/undo' : '/contacts/bulk/{jobId}/undo', {
        params: { path: { jobId } },
        body: { dryRun },
      }),
    );
  const preview = useQuery({ queryKey: ['undo', jobId], enabled: isOpen, gcTime: 0, queryFn: () => undo(true) });
  const start = async () => {
    await undo(false);
    toast('Undo started: contacts change in the background');
  };
  return (
    <>
      <Button size="small" onClick={() => setOpen(true)}>
        Undo
      </Button>
      {isOpen ? (
        <ConfirmDialog
          title={kind === 'import' ? 'Undo this import?' : 'Undo this change?'}
          action={kind === 'import' ? 'Undo import' : 'Undo change'}
          look="danger"
          isReady={preview.data !== undefined && preview.data.deletes + preview.data.restores > 0}
          onConfirm={start}
          onClose={() => setOpen(false)}
        >
          <Shown query={preview}>
            {({ deletes, restores, conflicts, keeps }) => (
              <ul>
                <li>{counted(restores, 'contact')} restored</li>
                <li>{counted(deletes, 'contact')} deleted</li>
                {conflicts.map(({ key, count: times }) => (
                  <li key={key}>
                    “{key}” changed since on {counted(times, 'contact')}: stays as it is
                  </li>
                ))}
                {keeps.map(({ reason, count: times }) => (
                  <li key={reason}>
                    {count(times)} kept: {reason}
                  </li>
                ))}
              </ul>
            )}
          </Shown>
        </ConfirmDialog>
      ) : null}
    </>
  );
}
