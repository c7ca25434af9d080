import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { answer, api } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { useProjectId } from '../../app/address.ts';
import { usePages } from '../../app/pages.ts';
import { Badge, type Tone } from '../../ui/Badge.tsx';
import { EndlessRows } from '../../ui/EndlessRows.tsx';
import { Page } from '../../ui/Page.tsx';
import { Empty } from '../../ui/States.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { counted, rate } from '../../words/numbers.ts';
import { UndoJob } from './UndoJob.tsx';

type Job = components['schemas']['ContactJob'];

const operations: Record<Job['operation'], string> = {
  import: 'Import',
  subscribe: 'Subscribe contacts',
  unsubscribe: 'Unsubscribe contacts',
  delete: 'Delete contacts',
  'add-to-segment': 'Add contacts to a segment',
  undo: 'Undo',
  enroll: 'Enroll contacts in a workflow',
};
const states: Record<Job['state'], { name: string; tone: Tone }> = {
  waiting: { name: 'Queued', tone: 'info' },
  active: { name: 'Running', tone: 'info' },
  delayed: { name: 'Retrying', tone: 'warn' },
  completed: { name: 'Completed', tone: 'good' },
  failed: { name: 'Failed', tone: 'bad' },
};
const isRunning = ({ state }: Job) => state !== 'completed' && state !== 'failed';

/** Imports and bulk changes, running and finished, each with its undo. */
export function Jobs() {
  const project = useProjectId();
  const queries = useQueryClient();
  const queryKey = ['contact-jobs', project];
  const jobs = usePages({
    queryKey,
    fetchPage: (cursor, signal) =>
      answer(api.GET('/contacts/jobs', { params: { query: { limit: 50, cursor } }, signal })),
    refetchInterval: ({ state }) => (state.data?.pages.some(({ data }) => data.some(isRunning)) ? 1_500 : false),
  });
  const ended = jobs.data?.pages.flatMap(({ data }) => data.filter((job) => !isRunning(job))).length ?? 0;
  useEffect(() => {
    // A job that has ended has changed contacts, which lists read before do not show.
    if (ended > 0) void queries.invalidateQueries({ queryKey: ['contacts', project] });
  }, [ended, queries, project]);
  return (
    <Page
      title="Imports and bulk changes"
      about="Each can be undone while its changes are kept."
      above={
        <Link to="/app/$project/contacts" params={{ project }}>
          Contacts
        </Link>
      }
    >
      <EndlessRows
        label="Imports and bulk changes"
        query={jobs}
        rowsOf={(page) => page.data}
        rowKey={({ id }) => id}
        rowHeight={64}
        empty={
          <Empty title="No imports or bulk changes yet">
            Import contacts, or change many at once, to see them here.
          </Empty>
        }
      >
        {(job) => <JobRow job={job} onUndo={() => void queries.invalidateQueries({ queryKey })} />}
      </EndlessRows>
    </Page>
  );
}

function JobRow({ job, onUndo }: { job: Job; onUndo: () => void }) {
  const { id, kind, operation, state, progress, filename, failedReason, by, createdAt, undoneBy, undoUntil } = job;
  const name = filename ?? operations[operation];
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
      <div className="min-w-0">
        <div className="row">
          <strong className="break">
            {filename ? `${operations[operation]} of ${filename}` : operations[operation]}
          </strong>
          <Badge tone={states[state].tone}>
            {isRunning(job) ? `${states[state].name}, ${rate(progress)}` : states[state].name}
          </Badge>
          {undoneBy ? <Badge>Undone</Badge> : null}
        </div>
        <div className="text-sm text-muted break">
          {countsOf(job)}
          {failedReason ? ` · ${failedReason}` : ''}
        </div>
      </div>
      <div className="row text-sm text-muted">
        <span>
          <Timestamp at={createdAt} />
          {by ? ` by ${by.name ?? (by.kind === 'user' ? 'a former member' : 'an API key')}` : null}
        </span>
        {undoUntil ? (
          <>
            <span>
              Undo until <Timestamp at={undoUntil} after />
            </span>
            <UndoJob kind={kind} jobId={id} of={name} onStarted={onUndo} />
          </>
        ) : null}
      </div>
    </div>
  );
}

function countsOf({ kind, operation, counts }: Job): string {
  const { created, updated, unchanged, failed } = counts;
  if (operation === 'enroll' && updated + failed > 0)
    return [`${counted(updated, 'contact')} entered`, ...(failed > 0 ? [`${failed} did not enter`] : [])].join(' · ');
  // An import counts rows, and a file may have several for one contact.
  const changed = kind === 'import' ? `${counted(updated, 'row')} updated` : `${counted(updated, 'contact')} changed`;
  const parts = [
    ...(created > 0 ? [`${counted(created, 'contact')} created`] : []),
    ...(updated > 0 ? [changed] : []),
    ...(unchanged > 0 ? [`${unchanged} unchanged`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
  ];
  return parts.length > 0 ? parts.join(' · ') : 'Nothing changed yet';
}
