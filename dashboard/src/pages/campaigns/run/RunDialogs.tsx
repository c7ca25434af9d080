import { answer, api } from '../../../api/client.ts';
import { ConfirmDialog } from '../../../ui/Dialog.tsx';
import { toast } from '../../../ui/toasts.tsx';
import { counted } from '../../../words/numbers.ts';
import type { Campaign } from '../campaign.ts';
import { CorrectionDialog } from '../revisions/CorrectionDialog.tsx';
import { FixDialog } from '../revisions/FixDialog.tsx';
import { FollowUpDialog } from '../revisions/FollowUpDialog.tsx';
import type { Stats } from './Progress.tsx';

/** An action on a campaign that has started. */
export type AskedOfRun = 'cancel' | 'resend' | 'fix' | 'correct' | 'follow';

export interface RunDialogsProps {
  asked: AskedOfRun | null;
  campaign: Campaign;
  stats: Stats | undefined;
  /** How many it missed. */
  missed: number;
  refresh: () => Promise<void>;
  /** Opens another campaign. */
  onOpen: (id: string) => Promise<void>;
  onClose: () => void;
}

/** Asks before a campaign is stopped, sent to those whom it missed, revised, corrected or followed up. */
export function RunDialogs({ asked, campaign, stats, missed, refresh, onOpen, onClose }: RunDialogsProps) {
  const { id, name } = campaign;
  const path = { id };
  if (asked === 'cancel')
    return (
      <ConfirmDialog
        title={`Stop sending ${name}?`}
        action="Stop sending"
        wayOut="Keep going"
        onConfirm={async () => {
          const { message } = await answer(api.POST('/campaigns/{id}/cancel', { params: { path } }));
          toast(message, 'info');
          await refresh();
        }}
        onClose={onClose}
      >
        Recipients who haven’t received the campaign yet won’t get it. Emails already sent can’t be recalled.
      </ConfirmDialog>
    );
  if (asked === 'resend')
    return (
      <ConfirmDialog
        title={`Resend ${name} to missed recipients?`}
        action="Resend now"
        variant="primary"
        onConfirm={async () => {
          const { data } = await answer(api.POST('/campaigns/{id}/resend', { params: { path } }));
          toast('Resending to missed recipients');
          await refresh();
          await onOpen(data.id);
        }}
        onClose={onClose}
      >
        {counted(missed, 'recipient was', 'recipients were')} skipped or failed. Recipients who can receive it now get
        it in a new campaign, which starts immediately.
      </ConfirmDialog>
    );
  if (asked === 'follow') return <FollowUpDialog campaign={campaign} onOpen={onOpen} onClose={onClose} />;
  if (asked === null || stats === undefined) return null;
  return asked === 'fix' ? (
    <FixDialog campaign={campaign} stats={stats} refresh={refresh} onClose={onClose} />
  ) : (
    <CorrectionDialog campaign={campaign} stats={stats} onOpen={onOpen} onClose={onClose} />
  );
}
