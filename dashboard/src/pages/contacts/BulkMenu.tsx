import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog, Dialog } from '../../ui/Dialog.tsx';
import { Note, Shown } from '../../ui/States.tsx';
import { count, counted } from '../../words/numbers.ts';
import { UndoJob } from './UndoJob.tsx';

const changes = {
  subscribe: { name: 'Subscribe all', verb: 'Subscribe', path: '/contacts/bulk-subscribe' },
  unsubscribe: { name: 'Unsubscribe all', verb: 'Unsubscribe', path: '/contacts/bulk-unsubscribe' },
  delete: { name: 'Delete all', verb: 'Delete', path: '/contacts/bulk-delete' },
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
        <Confirm
          change={asked}
          filter={filter}
          total={total}
          onConfirm={() => start(asked)}
          onClose={() => setAsked(null)}
        />
      ) : null}
      {jobId ? (
        <Dialog title="Updating contacts" onClose={() => setJobId(null)}>
          <BulkProgress jobId={jobId} onDone={onDone} />
          <footer>
            <Button onClick={() => setJobId(null)}>Close</Button>
          </footer>
        </Dialog>
      ) : null}
    </>
  );
}

function Confirm({
  change,
  filter,
  total,
  onConfirm,
  onClose,
}: {
  change: Change;
  filter: Filter;
  total: number;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}) {
  const project = useProjectId();
  // Whoever is subscribed already is not concerned.
  const unsubscribed = useQuery({
    queryKey: ['contacts', project, 'unsubscribed', filter],
    enabled: change === 'subscribe' && filter.subscribed === undefined,
    queryFn: async () => {
      const query = { limit: 1, search: filter.search, subscribed: false };
      return (await answer(api.GET('/contacts', { params: { query } }))).total;
    },
  });
  const concerned = change === 'subscribe' ? (filter.subscribed === 'true' ? 0 : (unsubscribed.data ?? total)) : total;
  const whom = [
    filter.search ? `contacts matching “${filter.search}”` : 'all contacts of this project',
    filter.subscribed === undefined
      ? ''
      : filter.subscribed === 'true'
        ? 'who are subscribed'
        : 'who are not subscribed',
  ].filter(Boolean);
  return (
    <ConfirmDialog
      title={`${changes[change].verb} ${counted(concerned, 'contact')}?`}
      action={`${changes[change].verb} ${counted(concerned, 'contact')}`}
      {...(change === 'unsubscribe' ? {} : { typed: String(concerned) })}
      look={change === 'delete' ? 'danger' : 'primary'}
      isReady={concerned > 0}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <div className="stack">
        <p className="break">This applies to {whom.join(' ')}.</p>
        {change === 'subscribe' ? (
          <Note tone="warn">
            Contacts who unsubscribed themselves are included. Only subscribe contacts who gave their consent.
          </Note>
        ) : change === 'delete' ? (
          <p>Their events, emails and segment memberships are deleted permanently.</p>
        ) : (
          <p>They no longer receive marketing email.</p>
        )}
      </div>
    </ConfirmDialog>
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
          {state === 'failed' ? <Note tone="bad">The update failed: {failedReason}</Note> : null}
          {result ? (
            <>
              <p>
                {count(result.successCount)} changed, {count(result.unchangedCount)} unchanged,{' '}
                {count(result.failureCount)} failed.
              </p>
              {result.operation === 'delete' ? null : (
                <div>
                  <UndoJob kind="bulk" jobId={jobId} />
                </div>
              )}
            </>
          ) : (
            <p>You can close this dialog; the update continues.</p>
          )}
        </div>
      )}
    </Shown>
  );
}
