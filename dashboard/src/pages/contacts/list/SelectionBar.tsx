import { useQueryClient } from '@tanstack/react-query';
import { Download, Trash2, X } from 'lucide-react';
import { useState } from 'react';
import { useProjectId } from '../../../app/address.ts';
import { Button } from '../../../ui/Button.tsx';
import { count, counted } from '../../../words/numbers.ts';
import { type BulkChange, BulkDialog, BulkProgress } from './BulkDialog.tsx';
import { ExportDialog } from './ExportDialog.tsx';
import type { Contact, ContactFilter } from './list.ts';
import { SegmentDialog } from './SegmentDialog.tsx';
import type { ContactSelection } from './selection.ts';

const most = 1_000;

export interface SelectionBarProps {
  selection: ContactSelection;
  /** The one that finds what the list shows. */
  filter: ContactFilter;
  columns: readonly string[];
  total: number;
  rows: readonly Contact[];
}

/** Shows the selection and its actions. */
export function SelectionBar({ selection, filter, columns, total, rows }: SelectionBarProps) {
  const project = useProjectId();
  const queries = useQueryClient();
  const [asked, setAsked] = useState<BulkChange | 'segment' | 'export' | null>(null);
  const [jobId, setJobId] = useState<string | null>(null);
  const close = () => setAsked(null);
  const done = () => {
    void queries.invalidateQueries({ queryKey: ['contacts', project] });
    void queries.invalidateQueries({ queryKey: ['segments', project] });
  };
  const chosen = { selector: selection.selector(filter), count: selection.count };
  const isTooMany = !selection.isAll && selection.count > most;
  return (
    <section
      aria-label="Selected contacts"
      className="mb-3 flex flex-wrap items-center gap-2 rounded-lg border border-accent-line bg-accent-soft px-3 py-2"
    >
      <span aria-live="polite" className="font-medium">
        {selection.isAll && selection.count === total
          ? `All ${counted(total, 'contact')} selected`
          : `${count(selection.count)} selected`}
      </span>
      {selection.count < total ? (
        <Button size="small" onClick={selection.selectAll}>
          Select all {counted(total, 'contact')}
        </Button>
      ) : null}
      {isTooMany ? <span className="text-sm">Select at most {count(most)} one by one, or all.</span> : null}
      <span className="row ms-auto">
        <Actions isDisabled={isTooMany || selection.count === 0} onAsk={setAsked} />
        <Button size="small" variant="plain" aria-label="Clear selection" onClick={selection.clear}>
          <X aria-hidden />
        </Button>
      </span>
      {asked === 'segment' ? (
        <SegmentDialog chosen={chosen} onQueued={setJobId} onClose={close} />
      ) : asked === 'export' ? (
        <ExportDialog chosen={chosen} columns={columns} onClose={close} />
      ) : asked ? (
        <BulkDialog
          change={asked}
          chosen={chosen}
          rows={rows}
          selection={selection}
          onQueued={setJobId}
          onClose={close}
        />
      ) : null}
      {jobId ? <BulkProgress jobId={jobId} onDone={done} onClose={() => setJobId(null)} /> : null}
    </section>
  );
}

function Actions({
  isDisabled,
  onAsk,
}: {
  isDisabled: boolean;
  onAsk: (what: BulkChange | 'segment' | 'export') => void;
}) {
  return (
    <>
      <Button size="small" disabled={isDisabled} onClick={() => onAsk('subscribe')}>
        Subscribe
      </Button>
      <Button size="small" disabled={isDisabled} onClick={() => onAsk('unsubscribe')}>
        Unsubscribe
      </Button>
      <Button size="small" disabled={isDisabled} onClick={() => onAsk('segment')}>
        Add to segment
      </Button>
      <Button size="small" disabled={isDisabled} onClick={() => onAsk('export')}>
        <Download aria-hidden /> Export selected
      </Button>
      <Button size="small" variant="danger" disabled={isDisabled} onClick={() => onAsk('delete')}>
        <Trash2 aria-hidden /> Delete
      </Button>
    </>
  );
}
