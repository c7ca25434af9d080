import { useQueryClient } from '@tanstack/react-query';
import { useProjectId } from '../../../app/address.ts';
import { ImportDialog } from '../import/ImportDialog.tsx';
import { NewContactDialog } from '../NewContactDialog.tsx';
import { ExportDialog } from './ExportDialog.tsx';
import type { ContactFilter } from './list.ts';

export interface ListDialogsProps {
  dialog: string | null;
  filter: ContactFilter;
  columns: readonly string[];
  total: number;
  onClose: () => void;
}

/** The dialogs that the buttons above the list of contacts open. */
export function ListDialogs({ dialog, filter, columns, total, onClose }: ListDialogsProps) {
  const project = useProjectId();
  const queries = useQueryClient();
  const refresh = () => void queries.invalidateQueries({ queryKey: ['contacts', project] });
  switch (dialog) {
    case 'import':
      return <ImportDialog onClose={onClose} onDone={refresh} />;
    case 'add':
      return <NewContactDialog onClose={onClose} onDone={refresh} />;
    case 'export': {
      const selector = { mode: 'query' as const, filter, excludeIds: [] };
      return <ExportDialog chosen={{ selector, count: total }} columns={columns} onClose={onClose} />;
    }
    default:
      return null;
  }
}
