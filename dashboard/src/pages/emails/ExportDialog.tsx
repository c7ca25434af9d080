import { useMutation } from '@tanstack/react-query';
import { answer, api } from '../../api/client.ts';
import { useFilters } from '../../app/address.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { Problem } from '../../ui/States.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { toast } from '../../ui/toasts.tsx';
import { emailQuery } from './filters.ts';

/** Downloads the emails that the filters of the page leave as a CSV file. */
export function ExportDialog({ onClose }: { onClose: () => void }) {
  const [filters] = useFilters();
  const download = useMutation({
    mutationFn: () => answer(api.POST('/emails/export', { body: emailQuery(filters), parseAs: 'blob' })),
    onSuccess: (file) => {
      saveFile(file as unknown as Blob, 'emails.csv');
      toast('Emails exported');
      onClose();
    },
  });
  return (
    <Dialog
      title="Export emails"
      description="A CSV file of all emails that match the filters, newest first. The audit log notes the export."
      onClose={onClose}
    >
      {download.error ? <Problem error={download.error} /> : null}
      <footer>
        <Button onClick={onClose}>Cancel</Button>
        <Button variant="primary" busy={download.isPending} onClick={() => download.mutate()}>
          Download CSV
        </Button>
      </footer>
    </Dialog>
  );
}
