import { useMutation } from '@tanstack/react-query';
import { type ChangeEvent, useState } from 'react';
import { api } from '../../api/client.ts';
import { toApiError } from '../../api/errors.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { inputClass } from '../../ui/Field.tsx';
import { Note, Problem } from '../../ui/States.tsx';
import { Table } from '../../ui/Table.tsx';
import { ImportProgress } from './ImportProgress.tsx';
import { type Preview, previewCsv } from './preview.ts';

const most = 5_000_000;

/** Imports a file of contacts: shows its first rows before anything is sent, then how far it is, then what became of each row. */
export function ImportDialog({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const [file, setFile] = useState<File | null>(null);
  const [preview, setPreview] = useState<Preview | null>(null);
  const upload = useMutation({
    mutationFn: async (chosen: File) => {
      const { data, error, response } = await api.POST('/contacts/import', {
        // The description of the API has the part `file` as binary text; the browser sends it as a stream.
        body: { file: '' } as never,
        bodySerializer: () => {
          const form = new FormData();
          form.set('file', chosen, chosen.name.endsWith('.csv') ? chosen.name : `${chosen.name}.csv`);
          return form;
        },
      });
      if (!data) throw toApiError(response.status, error);
      return data.jobId;
    },
  });
  const choose = async (event: ChangeEvent<HTMLInputElement>) => {
    const chosen = event.target.files?.[0] ?? null;
    setFile(chosen);
    setPreview(chosen && previewCsv(await chosen.slice(0, 64 * 1024).text()));
  };
  return (
    <Dialog
      title="Import contacts"
      description="A CSV file in UTF-8, up to 5 MB, with a header row and an “email” column. Other columns become fields of the contact."
      onClose={onClose}
    >
      {upload.data ? (
        <ImportProgress jobId={upload.data} onDone={onDone} />
      ) : (
        <div className="stack">
          <label className="field">
            <span>File</span>
            <input className={inputClass} type="file" accept=".csv,text/csv" onChange={(event) => void choose(event)} />
          </label>
          {file && file.size > most ? (
            <Note tone="bad">This file is larger than 5 MB. Split it into smaller files.</Note>
          ) : null}
          {preview && !preview.hasEmail ? (
            <Note tone="bad">The first row has no “email” column. Add one and choose the file again.</Note>
          ) : null}
          {preview ? (
            <>
              <p className="muted">Preview of the first rows:</p>
              <Table
                label="First rows of the file"
                rows={preview.rows}
                rowKey={({ line }) => String(line)}
                columns={preview.columns.map((name, place) => ({
                  key: `${place}`,
                  title: name === 'email' || name === 'subscribed' ? name : `data.${name}`,
                  cell: ({ cells }: Preview['rows'][number]) => cells[place] ?? '',
                }))}
              />
            </>
          ) : null}
          {upload.error ? <Problem error={upload.error} /> : null}
        </div>
      )}
      <footer>
        <Button onClick={onClose}>Close</Button>
        {upload.data ? null : (
          <Button
            look="primary"
            busy={upload.isPending}
            disabled={file === null || !preview?.hasEmail || file.size > most}
            onClick={() => file && upload.mutate(file)}
          >
            Import
          </Button>
        )}
      </footer>
    </Dialog>
  );
}
