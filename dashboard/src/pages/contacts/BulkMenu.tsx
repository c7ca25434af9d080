import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog, Dialog } from '../../ui/Dialog.tsx';
import { count } from '../../ui/numbers.ts';
import { Note, Shown } from '../../ui/States.tsx';

const changes = {
  subscribe: { name: 'Subscribe all', path: '/contacts/bulk-subscribe' },
  unsubscribe: { name: 'Unsubscribe all', path: '/contacts/bulk-unsubscribe' },
  delete: { name: 'Delete all', path: '/contacts/bulk-delete' },
} as const;
type Change = keyof typeof changes;

interface Filter {
  search: string | undefined;
  subscribed: string | undefined;
}

/** Changes everybody whom the list shows, as a job of the service. */
export function BulkMenu({ filter, total, onDone }: { filter: Filter; total: number; onDone: () => void }) {
  const [asked, setAsked] = useState<Change | null>(null);
  const [jobId, setJobId] = useState<string | null>(null);
  const start = async (change: Change) => {
    const body = {
      mode: 'query' as const,
      filter: {
        ...(filter.search ? { search: filter.search } : {}),
        ...(filter.subscribed ? { subscribed: filter.subscribed === 'true' } : {}),
      },
    };
    const job = await answer(api.POST(changes[change].path, { body }));
    setJobId(job.jobId);
  };
  const isFiltered = Boolean(filter.search || filter.subscribed);
  const whom = `${count(total)} ${total === 1 ? 'contact' : 'contacts'}${isFiltered ? ' that the filter finds' : ', everybody in this project'}`;
  return (
    <>
      {(Object.keys(changes) as Change[]).map((change) => (
        <Button
          key={change}
          size="small"
          {...(change === 'delete' ? { look: 'danger' as const } : {})}
          disabled={total === 0}
          onClick={() => setAsked(change)}
        >
          {changes[change].name}
        </Button>
      ))}
      {asked ? (
        <ConfirmDialog
          title={changes[asked].name}
          action={`${changes[asked].name}: ${count(total)}`}
          {...(asked === 'delete' ? { typed: String(total) } : {})}
          onConfirm={() => start(asked)}
          onClose={() => setAsked(null)}
        >
          This concerns {whom}.
        </ConfirmDialog>
      ) : null}
      {jobId ? (
        <Dialog title="Changing contacts" onClose={() => setJobId(null)}>
          <BulkProgress jobId={jobId} onDone={onDone} />
          <footer>
            <Button onClick={() => setJobId(null)}>Close</Button>
          </footer>
        </Dialog>
      ) : null}
    </>
  );
}

function BulkProgress({ jobId, onDone }: { jobId: string; onDone: () => void }) {
  const job = useQuery({
    queryKey: ['bulk', jobId],
    refetchInterval: ({ state }) => (state.data?.state === 'completed' || state.data?.state === 'failed' ? false : 700),
    queryFn: () => answer(api.GET('/contacts/bulk/{jobId}', { params: { path: { jobId } } })),
  });
  const hasEnded = job.data?.state === 'completed' || job.data?.state === 'failed';
  // biome-ignore lint/correctness/useExhaustiveDependencies: told once, when the job has ended
  useEffect(() => {
    if (hasEnded) onDone();
  }, [hasEnded]);
  return (
    <Shown query={job}>
      {({ progress, result, failedReason, state }) => (
        <div className="stack" aria-live="polite">
          {hasEnded ? null : <progress aria-label="Progress" max={100} value={progress} />}
          {state === 'failed' ? <Note tone="bad">It has failed: {failedReason}</Note> : null}
          {result ? (
            <p>
              {count(result.successCount)} changed, {count(result.unchangedCount)} were so already,{' '}
              {count(result.failureCount)} failed.
            </p>
          ) : (
            <p>You may close this; the work goes on.</p>
          )}
        </div>
      )}
    </Shown>
  );
}
