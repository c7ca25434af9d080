import { useBlocker } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ConfirmDialog } from '../ui/Dialog.tsx';

/**
 * Asks before a page with unsaved changes is left: by a dialog of the page for a link, by the browser's own for closing the
 * window, where no other is possible. Render what it answers.
 */
export function useUnsaved(hasChanges: boolean): ReactNode {
  const { status, proceed, reset } = useBlocker({
    // Another step or filter of the same page loses nothing.
    shouldBlockFn: ({ current, next }) => hasChanges && current.pathname !== next.pathname,
    enableBeforeUnload: hasChanges,
    withResolver: true,
  });
  if (status !== 'blocked') return null;
  return (
    <ConfirmDialog
      title="Discard unsaved changes?"
      action="Discard changes"
      wayOut="Keep editing"
      onConfirm={async () => proceed()}
      onClose={() => reset()}
    >
      Your changes on this page are not saved. They are lost if you leave.
    </ConfirmDialog>
  );
}
