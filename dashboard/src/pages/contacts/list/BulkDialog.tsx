import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { answer, api } from '../../../api/client.ts';
import type { components } from '../../../api/schema.d.ts';
import { useProjectId } from '../../../app/address.ts';
import { Button } from '../../../ui/Button.tsx';
import { ConfirmDialog, Dialog } from '../../../ui/Dialog.tsx';
import { Note, Shown } from '../../../ui/States.tsx';
import { count, counted } from '../../../words/numbers.ts';
import { UndoJob } from '../UndoJob.tsx';
import type { Contact } from './list.ts';
import type { ContactSelection, Selector } from './selection.ts';

const changes = {
  subscribe: { verb: 'Subscribe', path: '/contacts/bulk-subscribe' },
  unsubscribe: { verb: 'Unsubscribe', path: '/contacts/bulk-unsubscribe' },
  delete: { verb: 'Delete', path: '/contacts/bulk-delete' },
} as const;
/** The actions for many contacts at once. */
export type BulkChange = keyof typeof changes;

/** The contacts that something is done to. */
export interface Chosen {
  selector: Selector;
  count: number;
}

/** Asks before many contacts are changed, and names how many. */
export function BulkDialog({
  change,
  chosen,
  rows,
  selection,
  onQueued,
  onClose,
}: {
  change: BulkChange;
  chosen: Chosen;
  rows: readonly Contact[];
  selection: ContactSelection;
  onQueued: (jobId: string) => void;
  onClose: () => void;
}) {
  const { verb, path } = changes[change];
  const unsubscribed = useUnsubscribed(change === 'subscribe', chosen, rows, selection);
  const concerned = change === 'subscribe' ? unsubscribed : chosen.count;
  const title = concerned === undefined ? `${verb} contacts` : `${verb} ${counted(concerned, 'contact')}`;
  return (
    <ConfirmDialog
      title={`${title}?`}
      action={title}
      {...(change === 'unsubscribe' ? {} : { typed: String(concerned ?? chosen.count) })}
      variant={change === 'delete' ? 'danger' : 'primary'}
      isReady={concerned !== undefined && concerned > 0}
      onConfirm={async () => onQueued((await answer(api.POST(path, { body: chosen.selector }))).jobId)}
      onClose={onClose}
    >
      <div className="stack">
        <p>
          {chosen.selector.mode === 'query'
            ? `This applies to all ${counted(chosen.count, 'contact')} that match.`
            : `This applies to the ${counted(chosen.count, 'selected contact')}.`}
        </p>
        {change === 'subscribe' ? (
          <Note tone="warn">
            Contacts who unsubscribed themselves are included. Only subscribe contacts who gave their consent.
          </Note>
        ) : change === 'delete' ? (
          <p>You can undo this for 7 days. Then their events and emails are deleted permanently.</p>
        ) : (
          <p>They no longer receive marketing email.</p>
        )}
      </div>
    </ConfirmDialog>
  );
}

// Contacts who are subscribed already are not concerned.
function useUnsubscribed(
  isAsked: boolean,
  { selector }: Chosen,
  rows: readonly Contact[],
  selection: ContactSelection,
) {
  const project = useProjectId();
  const isAll = selector.mode === 'query';
  const all = useQuery({
    queryKey: ['contacts', project, 'unsubscribed', selector],
    enabled: isAsked && isAll && selector.filter.subscribed === undefined,
    queryFn: async () => {
      const filter = isAll ? { ...selector.filter, subscribed: false } : {};
      return (await answer(api.POST('/contacts/search', { body: { filter, limit: 1 } }))).total;
    },
  });
  const unsubscribed = rows.filter(({ subscribed }) => !subscribed);
  if (!isAll) return unsubscribed.filter(({ id }) => selection.has(id)).length;
  if (selector.filter.subscribed === true) return 0;
  if (selector.filter.subscribed === false) return selection.count;
  const left = unsubscribed.filter(({ id }) => !selection.has(id)).length;
  return all.data === undefined ? undefined : all.data - left;
}

type Result = NonNullable<components['schemas']['BulkJob']['result']>;

function resultText({ operation, successCount, unchangedCount, failureCount, reasons }: Result): string {
  if (operation !== 'enroll')
    return `${count(successCount)} changed, ${count(unchangedCount)} unchanged, ${count(failureCount)} failed.`;
  const why = Object.entries(reasons).map(([reason, contacts]) => `${reason}: ${count(contacts)}.`);
  return [`${counted(successCount, 'contact')} entered, ${count(failureCount)} did not.`, ...why].join(' ');
}

const canUndo = (operation: Result['operation']) =>
  operation !== 'add-to-segment' && operation !== 'undo' && operation !== 'enroll';

/** How far a change of many contacts is, and in the end what it did. */
export function BulkProgress({
  title = 'Updating contacts',
  jobId,
  onDone,
  onClose,
}: {
  title?: string;
  jobId: string;
  onDone: () => void;
  onClose: () => void;
}) {
  const job = useQuery({
    queryKey: ['bulk', jobId],
    refetchInterval: ({ state }) => (state.data?.state === 'completed' || state.data?.state === 'failed' ? false : 700),
    queryFn: () => answer(api.GET('/contacts/bulk/{jobId}', { params: { path: { jobId } } })),
  });
  const hasEnded = job.data?.state === 'completed' || job.data?.state === 'failed';
  // biome-ignore lint/correctness/useExhaustiveDependencies: called once, when the job has ended
  useEffect(() => {
    if (hasEnded) onDone();
  }, [hasEnded]);
  return (
    <Dialog title={title} onClose={onClose}>
      <Shown query={job}>
        {({ progress, result, failedReason, state }) => (
          <div className="stack" aria-live="polite">
            {hasEnded ? null : <progress aria-label="Progress" max={100} value={progress} />}
            {state === 'failed' ? <Note tone="bad">The update failed: {failedReason}</Note> : null}
            {result ? (
              <>
                <p>{resultText(result)}</p>
                {canUndo(result.operation) ? (
                  <div>
                    <UndoJob kind="bulk" jobId={jobId} />
                  </div>
                ) : null}
              </>
            ) : state === 'failed' ? null : (
              <p>You can close this dialog; the update continues.</p>
            )}
          </div>
        )}
      </Shown>
      <footer>
        <Button onClick={onClose}>Close</Button>
      </footer>
    </Dialog>
  );
}
