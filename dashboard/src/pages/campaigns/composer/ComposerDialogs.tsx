import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { ConfirmDialog } from '../../../ui/Dialog.tsx';
import { toast } from '../../../ui/toasts.tsx';
import { contentOf } from '../../mail/content.ts';
import { HistoryDialog } from '../../mail/HistoryDialog.tsx';
import type { Campaign } from '../campaign.ts';

/** A dialog of the composer. */
export type ComposerDialog = 'history' | 'delete' | 'cancel';

/** The dialog of the composer that is open. */
export function ComposerDialogs({
  open,
  campaign,
  hasChanges,
  onClose,
}: {
  open: ComposerDialog | null;
  campaign: Campaign;
  hasChanges: boolean;
  onClose: () => void;
}) {
  const project = useProjectId();
  const queries = useQueryClient();
  const refresh = () => queries.invalidateQueries({ queryKey: ['campaigns', project] });
  switch (open) {
    case 'history':
      return (
        <HistoryDialog
          saved={{ kind: 'campaigns', id: campaign.id, content: contentOf(campaign), revision: campaign.revision }}
          hasChanges={hasChanges}
          onClose={onClose}
        />
      );
    case 'cancel':
      return (
        <ConfirmDialog
          title={`Unschedule ${campaign.name}?`}
          action="Back to draft"
          wayOut="Keep it scheduled"
          onConfirm={async () => {
            await answer(api.POST('/campaigns/{id}/cancel', { params: { path: { id: campaign.id } } }));
            await refresh();
          }}
          onClose={onClose}
        >
          Nothing is sent. {campaign.name} becomes a draft again.
        </ConfirmDialog>
      );
    case 'delete':
      return <DeleteDraft campaign={campaign} refresh={refresh} onClose={onClose} />;
    default:
      return null;
  }
}

function DeleteDraft({
  campaign,
  refresh,
  onClose,
}: {
  campaign: Campaign;
  refresh: () => Promise<void>;
  onClose: () => void;
}) {
  const project = useProjectId();
  const navigate = useNavigate();
  return (
    <ConfirmDialog
      title={`Delete ${campaign.name}?`}
      action="Delete draft"
      onConfirm={async () => {
        await answer(api.DELETE('/campaigns/{id}', { params: { path: { id: campaign.id } } }));
        toast(`“${campaign.name}” deleted`);
        await navigate({ to: '/app/$project/campaigns', params: { project }, ignoreBlocker: true });
        await refresh();
      }}
      onClose={onClose}
    >
      The draft and its content are deleted permanently.
    </ConfirmDialog>
  );
}
