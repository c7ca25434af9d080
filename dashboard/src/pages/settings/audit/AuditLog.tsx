import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import { useFilters } from '../../../app/address.ts';
import { ChoiceFilter } from '../../../app/filters.tsx';
import { usePages } from '../../../app/pages.ts';
import { Button } from '../../../ui/Button.tsx';
import { EndlessRows } from '../../../ui/EndlessRows.tsx';
import { SearchField } from '../../../ui/SearchField.tsx';
import { Empty, Note, Problem } from '../../../ui/States.tsx';
import { saveFile } from '../../../ui/save-file.ts';
import { Timestamp } from '../../../ui/Timestamp.tsx';
import { count, counted } from '../../../words/numbers.ts';
import { mayAdminister, type Project } from '../project.ts';
import { ChangeDialog } from './ChangeDialog.tsx';
import { actionText, actorText, areas, type Change, kinds } from './change.ts';

/** Who changed what in the project, and whether the log is as it was written. */
export function AuditLog({ project }: { project: Project }) {
  const [{ actor, action, target = '' }, change] = useFilters();
  const [shown, setShown] = useState<Change | null>(null);
  const path = { id: project.id };
  const filter = { ...(actor ? { actor } : {}), ...(action ? { action } : {}), ...(target ? { target } : {}) };
  const isAdmin = mayAdminister(project);
  const log = usePages({
    queryKey: ['audit-log', project.id, { actor, action, target }],
    enabled: isAdmin,
    fetchPage: (cursor, signal) =>
      answer(
        api.GET('/projects/{id}/audit-log', {
          params: { path, query: { ...filter, limit: '50', cursor } },
          signal,
        }),
      ),
  });
  const download = useMutation({
    mutationFn: () =>
      answer(
        api.GET('/projects/{id}/audit-log', {
          params: { path, query: { ...filter, format: 'csv' } },
          parseAs: 'blob',
        }),
      ) as Promise<unknown> as Promise<Blob>,
    onSuccess: (file) => saveFile(file, 'audit-log.csv'),
  });
  const verify = useMutation({
    mutationFn: () => answer(api.GET('/projects/{id}/audit-log/verify', { params: { path } })),
  });
  if (!isAdmin) return <Note>Only admins and the owner can see the audit log.</Note>;
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <>
      <p className="muted mb-4">
        Every change in the last 400 days: who made it, and the values before and after. Entries are chained by hashes,
        so altered or removed entries are detected.
      </p>
      <div className="filters">
        <ChoiceFilter name="actor" label="Actor" all="Anyone" choices={Object.entries(kinds)} />
        <ChoiceFilter name="action" label="Area" all="Any area" choices={Object.entries(areas)} />
        <SearchField label="Target ID" value={target} onChange={(text) => change({ target: text.trim() })} />
        <div className="row">
          <Button busy={verify.isPending} onClick={() => verify.mutate()}>
            Verify log
          </Button>
          <Button busy={download.isPending} onClick={() => download.mutate()}>
            Download as CSV
          </Button>
        </div>
      </div>
      <div className="stack">
        <div role="status">{verify.data ? <Verified {...verify.data} /> : null}</div>
        {verify.error || download.error ? <Problem error={verify.error ?? download.error} /> : null}
        <EndlessRows
          label="Audit log"
          query={log}
          rowsOf={(page) => page.data}
          rowKey={({ id }) => id}
          empty={
            isFiltered ? (
              <Empty title="No changes match" />
            ) : (
              <Empty title="No changes yet">Campaigns, keys, members, settings and deletions are recorded here.</Empty>
            )
          }
        >
          {(entry) => <Entry entry={entry} onShow={() => setShown(entry)} />}
        </EndlessRows>
      </div>
      {shown ? <ChangeDialog change={shown} onClose={() => setShown(null)} /> : null}
    </>
  );
}

function Verified({
  valid,
  entries,
  firstChanged,
  missing,
}: {
  valid: boolean;
  entries: number;
  firstChanged: { position: number } | null;
  missing: number;
}) {
  if (valid)
    return <Note tone="good">Log verified: {counted(entries, 'entry', 'entries')}, none altered or missing.</Note>;
  return (
    <Note tone="bad">
      The log was tampered with. {firstChanged ? `Entry ${count(firstChanged.position)} was altered. ` : ''}
      {missing > 0 ? `${counted(missing, 'entry is', 'entries are')} missing.` : ''}
    </Note>
  );
}

function Entry({ entry, onShow }: { entry: Change; onShow: () => void }) {
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 @2xl:grid @2xl:grid-cols-[minmax(0,3fr)_minmax(0,4fr)_9rem_auto]">
      <span className="font-medium">{actionText(entry.action)}</span>
      <span className="break muted">{actorText(entry.actor)}</span>
      <span className="muted">
        <Timestamp at={entry.at} />
      </span>
      <Button size="small" aria-label={`Show change ${entry.position}`} onClick={onShow}>
        Show
      </Button>
    </div>
  );
}
