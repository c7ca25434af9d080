import { Pause, Play, Trash2, UserPlus, Users } from 'lucide-react';
import { MenuItem } from '../../../ui/Menu.tsx';
import type { Workflow } from '../workflow.ts';
import type { OpenDialog } from './DesignerDialogs.tsx';

/** The less frequent actions for an automation as a whole. */
export function DesignerMenu({
  workflow: { pausedAt },
  onOpen,
}: {
  workflow: Pick<Workflow, 'pausedAt'>;
  onOpen: (dialog: OpenDialog) => void;
}) {
  const isPaused = pausedAt !== null;
  return (
    <>
      <MenuItem onSelect={() => onOpen('pause')}>
        {isPaused ? <Play aria-hidden /> : <Pause aria-hidden />} {isPaused ? 'Resume' : 'Pause'} workflow
      </MenuItem>
      <MenuItem onSelect={() => onOpen('enroll')}>
        <UserPlus aria-hidden /> Enroll contacts
      </MenuItem>
      <MenuItem onSelect={() => onOpen('migrate')}>
        <Users aria-hidden /> Migrate contacts
      </MenuItem>
      <MenuItem onSelect={() => onOpen('workflow')}>
        <Trash2 aria-hidden /> Delete workflow
      </MenuItem>
    </>
  );
}
