import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { Button } from '../../../ui/Button.tsx';
import { Figure } from '../../../ui/Figure.tsx';
import { Note, Shown } from '../../../ui/States.tsx';
import { saveFile } from '../../../ui/save-file.ts';
import { count, counted, rate } from '../../../words/numbers.ts';
import { UndoJob } from '../UndoJob.tsx';

const running = ['waiting', 'active', 'delayed'];

/** Follows a job until it has ended, and then calls `onDone` once. */
function useJob<Job extends { state: string }>(queryKey: string[], queryFn: () => Promise<Job>, onDone: () => void) {
  const job = useQuery({
    queryKey,
    refetchInterval: ({ state }) => (state.data && !running.includes(state.data.state) ? false : 700),
    queryFn,
  });
  const hasEnded = job.data !== undefined && !running.includes(job.data.state);
  // biome-ignore lint/correctness/useExhaustiveDependencies: called once, when the job has ended
  useEffect(() => {
    if (hasEnded) onDone();
  }, [hasEnded]);
  return [job, hasEnded] as const;
}

/** How far an import is, and in the end what became of its rows. `repeated` rows have an address that the file has before. */
export function ImportProgress({ jobId, repeated, onDone }: { jobId: string; repeated: number; onDone: () => void }) {
  const [undoId, setUndoId] = useState<string | null>(null);
  const project = useProjectId();
  const [job, hasEnded] = useJob(
    ['import', jobId],
    () => answer(api.GET('/contacts/import/{jobId}', { params: { path: { jobId } } })),
    onDone,
  );
  return (
    <Shown query={job}>
      {({ progress, state, result, failedReason, data }) => (
        <div className="stack" aria-live="polite">
          {hasEnded ? null : (
            <label className="field">
              <span>
                {state === 'waiting' ? 'Queued' : 'Importing'}: {rate(progress)}
              </span>
              <progress max={100} value={progress} />
            </label>
          )}
          {state === 'failed' ? <Note tone="bad">The import failed: {failedReason}</Note> : null}
          {result ? (
            <>
              <dl className="figures">
                <Figure name="Rows" value={count(result.totalRows)} />
                <Figure name="Created" value={count(result.createdCount)} />
                <Figure name="Updated" value={count(result.updatedCount)} />
                <Figure name="Unchanged" value={count(result.unchangedCount)} />
                <Figure name="Failed" value={count(result.failureCount)} />
              </dl>
              {repeated > 0 ? (
                <p>
                  {counted(repeated, 'row repeats', 'rows repeat')} an address of the file: counted as updated or
                  unchanged.
                </p>
              ) : null}
              {undoId === null ? (
                <div>
                  <UndoJob kind="import" jobId={jobId} onStarted={setUndoId} />
                </div>
              ) : (
                <UndoProgress jobId={undoId} onDone={onDone} />
              )}
              {data.segmentId ? (
                <p>
                  <Link to="/app/$project/segments/$segment" params={{ project, segment: data.segmentId }}>
                    View the segment of these contacts
                  </Link>
                </p>
              ) : null}
              {result.failureCount > 0 ? (
                <Note tone="warn">
                  <ul>
                    {Object.entries(result.reasons).map(([reason, times]) => (
                      <li key={reason}>
                        {count(times)} × {reason}
                      </li>
                    ))}
                  </ul>
                  <Button size="small" onClick={() => download(result.errors)}>
                    Download failed rows
                  </Button>
                </Note>
              ) : null}
            </>
          ) : null}
        </div>
      )}
    </Shown>
  );
}

function UndoProgress({ jobId, onDone }: { jobId: string; onDone: () => void }) {
  const [job] = useJob(
    ['undo-job', jobId],
    () => answer(api.GET('/contacts/bulk/{jobId}', { params: { path: { jobId } } })),
    onDone,
  );
  return (
    <Shown query={job}>
      {({ state, progress, result, failedReason }) =>
        state === 'failed' ? (
          <Note tone="bad">The undo failed: {failedReason}</Note>
        ) : (
          <Note>
            {result ? `Undone: ${counted(result.successCount, 'contact')} changed.` : `Undoing: ${rate(progress)}`}
          </Note>
        )
      }
    </Shown>
  );
}

function download(errors: readonly { row: number; email: string | null; error: string }[]): void {
  // A leading apostrophe keeps spreadsheets from taking a cell for a formula.
  const cell = (text: string) => `"${text.replace(/^[=+\-@\t]/, "'$&").replaceAll('"', '""')}"`;
  const lines = errors.map(({ row, email, error }) => [String(row), cell(email ?? ''), cell(error)].join(','));
  saveFile(new Blob([['row,email,error', ...lines].join('\r\n')], { type: 'text/csv' }), 'failed-rows.csv');
}
