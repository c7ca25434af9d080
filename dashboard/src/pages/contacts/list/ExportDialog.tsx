import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { CheckField } from '../../../ui/Field.tsx';
import { Problem } from '../../../ui/States.tsx';
import { saveFile } from '../../../ui/save-file.ts';
import { toast } from '../../../ui/toasts.tsx';
import { counted } from '../../../words/numbers.ts';
import type { Chosen } from './BulkDialog.tsx';
import { useDataColumns } from './ColumnsMenu.tsx';
import { builtInColumns, columnTitle } from './list.ts';

/** Downloads contacts as a CSV file with the columns that are chosen. */
export function ExportDialog({
  chosen: { selector, count },
  columns: shown,
  name = 'contacts',
  onClose,
}: {
  chosen: Chosen;
  /** Columns that are chosen at first. */
  columns: readonly string[];
  /** Name of the file. */
  name?: string;
  onClose: () => void;
}) {
  const fields = useDataColumns();
  const [columns, setColumns] = useState(shown);
  const offered = [...new Set([...builtInColumns, ...columns, ...fields])];
  const download = useMutation({
    mutationFn: () => {
      const which =
        selector.mode === 'ids'
          ? { contactIds: selector.contactIds }
          : { filter: selector.filter, excludeIds: selector.excludeIds };
      return answer(api.POST('/contacts/export', { body: { ...which, columns: [...columns] }, parseAs: 'blob' }));
    },
    onSuccess: (file) => {
      saveFile(file as unknown as Blob, `${name}.csv`);
      toast(`${counted(count, 'contact')} exported`);
      onClose();
    },
  });
  return (
    <Dialog
      title={`Export ${counted(count, 'contact')}`}
      description="A CSV file with one line for each contact. The audit log notes the export."
      onClose={onClose}
    >
      <fieldset className="stack">
        <legend className="mb-2 text-sm font-medium">Columns</legend>
        <div className="grid gap-2 sm:grid-cols-2">
          {offered.map((column) => (
            <CheckField
              key={column}
              label={<span dir="auto">{columnTitle(column)}</span>}
              checked={columns.includes(column)}
              onChange={({ target }) =>
                setColumns(target.checked ? [...columns, column] : columns.filter((each) => each !== column))
              }
            />
          ))}
        </div>
      </fieldset>
      {download.error ? <Problem error={download.error} /> : null}
      <footer>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          variant="primary"
          busy={download.isPending}
          disabled={columns.length === 0 || count === 0}
          onClick={() => download.mutate()}
        >
          Download CSV
        </Button>
      </footer>
    </Dialog>
  );
}
