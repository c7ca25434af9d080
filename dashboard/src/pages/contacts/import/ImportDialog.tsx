import { useState } from 'react';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { FileField } from '../../../ui/FileField.tsx';
import { Note } from '../../../ui/States.tsx';
import { useDataColumns } from '../list/ColumnsMenu.tsx';
import { ImportProgress } from './ImportProgress.tsx';
import { MappingStep } from './MappingStep.tsx';
import { PreviewStep } from './PreviewStep.tsx';
import { beginningOf } from './rules/csv.ts';
import { type ColumnChoice, choicesOf, missingColumn } from './rules/mapping.ts';

const most = 5_000_000;

/** Imports a file in steps: choose it, say what its columns are for, look at what will change, and watch it. */
export function ImportDialog({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const fields = useDataColumns();
  const [file, setFile] = useState<File | null>(null);
  const [choices, setChoices] = useState<ColumnChoice[]>([]);
  const [isPreviewed, setPreviewed] = useState(false);
  const [started, setStarted] = useState<{ jobId: string; repeated: number } | null>(null);
  const choose = async (chosen: File) => {
    setChoices(choicesOf(beginningOf(await chosen.slice(0, 64 * 1024).text()), fields));
    setFile(chosen);
  };
  if (started !== null)
    return (
      <Dialog title="Import contacts" onClose={onClose}>
        <ImportProgress {...started} onDone={onDone} />
        <footer>
          <Button onClick={onClose}>Close</Button>
        </footer>
      </Dialog>
    );
  if (file !== null && isPreviewed)
    return (
      <Dialog title="Review the import" wide onClose={onClose}>
        <PreviewStep
          file={file}
          choices={choices}
          onBack={() => setPreviewed(false)}
          onStarted={(jobId, repeated) => setStarted({ jobId, repeated })}
        />
      </Dialog>
    );
  const missing = file === null ? null : missingColumn(choices);
  return (
    <Dialog
      title="Import contacts"
      description="A CSV file in UTF-8, up to 5 MB, with a header row and a column with email addresses."
      wide={file !== null}
      onClose={onClose}
    >
      <div className="stack">
        <FileField label="File" accept=".csv,text/csv" chosen={file?.name} onFile={(chosen) => void choose(chosen)} />
        {file && file.size > most ? (
          <Note tone="bad">This file is larger than 5 MB. Split it into smaller files.</Note>
        ) : file ? (
          <MappingStep choices={choices} fields={fields} onChange={setChoices} />
        ) : null}
        {missing ? <Note tone="warn">{missing}</Note> : null}
      </div>
      <footer>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          variant="primary"
          disabled={file === null || missing !== null || file.size > most}
          onClick={() => setPreviewed(true)}
        >
          Preview changes
        </Button>
      </footer>
    </Dialog>
  );
}
