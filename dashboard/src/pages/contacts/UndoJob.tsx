import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { ApiError } from '../../api/errors.ts';
import type { components } from '../../api/schema.d.ts';
import { useProjectId } from '../../app/address.ts';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { Shown } from '../../ui/States.tsx';
import { toast } from '../../ui/toasts.tsx';
import { count, counted } from '../../words/numbers.ts';

/** The button that takes a finished job back, after it has shown what that does. `of` says which job where there are many. */
export function UndoJob({
  kind,
  jobId,
  of,
  onStarted,
}: {
  kind: 'import' | 'bulk';
  jobId: string;
  of?: string;
  /** Called with the job that undoes it. */
  onStarted?: (undoId: string) => void;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button size="small" {...(of === undefined ? {} : { 'aria-label': `Undo ${of}` })} onClick={() => setOpen(true)}>
        Undo
      </Button>
      {isOpen ? <UndoDialog {...{ kind, jobId }} onStarted={onStarted} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

function UndoDialog({
  kind,
  jobId,
  onStarted,
  onClose,
}: {
  kind: 'import' | 'bulk';
  jobId: string;
  onStarted: ((undoId: string) => void) | undefined;
  onClose: () => void;
}) {
  const project = useProjectId();
  const navigate = useNavigate();
  const [conflicts, setConflicts] = useState<'keep' | 'restore'>('keep');
  const undo = (dryRun: boolean) =>
    answer(
      api.POST(kind === 'import' ? '/contacts/import/{jobId}/undo' : '/contacts/bulk/{jobId}/undo', {
        params: { path: { jobId } },
        body: { dryRun, conflicts },
      }),
    );
  const preview = useQuery({
    queryKey: ['undo', jobId, conflicts],
    gcTime: 0,
    queryFn: ({ signal }) => untilCounted(() => undo(true), signal),
  });
  const start = async () => {
    const { jobId: undoId } = await untilCounted(() => undo(false));
    toast('Undo started: contacts change in the background', 'good', {
      text: 'View progress',
      run: () => void navigate({ to: '/app/$project/contact-jobs', params: { project } }),
    });
    if (undoId !== null) onStarted?.(undoId);
  };
  return (
    <ConfirmDialog
      title={kind === 'import' ? 'Undo this import?' : 'Undo this change?'}
      action={kind === 'import' ? 'Undo import' : 'Undo change'}
      variant="danger"
      isReady={preview.data !== undefined && preview.data.deletes + preview.data.restores > 0}
      onConfirm={start}
      onClose={onClose}
    >
      <Shown query={preview}>{(found) => <Preview found={found} isRestoring={conflicts === 'restore'} />}</Shown>
      {conflicts === 'restore' || (preview.data && preview.data.conflicts.length > 0) ? (
        <label className="mt-3 flex items-center gap-2">
          <input
            type="checkbox"
            checked={conflicts === 'restore'}
            onChange={({ target }) => setConflicts(target.checked ? 'restore' : 'keep')}
          />
          Also restore fields that were changed since
        </label>
      ) : null}
    </ConfirmDialog>
  );
}

type UndoPreview = components['schemas']['UndoPreview'];

function Preview({ found, isRestoring }: { found: UndoPreview; isRestoring: boolean }) {
  const { deletes, restores, conflicts, keeps } = found;
  return (
    <ul>
      <li>{counted(restores, 'contact')} restored</li>
      <li>{counted(deletes, 'contact')} deleted</li>
      {conflicts.map(({ key, count: times }) => (
        <li key={key}>
          “{key}” changed since on {counted(times, 'contact')}: {isRestoring ? 'restored as well' : 'stays as it is'}
        </li>
      ))}
      {keeps.map(({ reason, count: times }) => (
        <li key={reason}>
          {count(times)} kept: {reason}
        </li>
      ))}
    </ul>
  );
}

// Counting what the undo of millions of contacts would do takes several requests, each of which goes on from the one before.
async function untilCounted<T>(ask: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (;;)
    try {
      return await ask();
    } catch (error) {
      const isCounting = error instanceof ApiError && error.code === 'PREVIEW_UNFINISHED';
      if (!isCounting || signal?.aborted) throw error;
    }
}
