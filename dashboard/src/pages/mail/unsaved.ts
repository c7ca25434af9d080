import { useBlocker } from '@tanstack/react-router';

/** Asks before a page with unsaved changes is left, by a link or by closing the window. */
export function useUnsaved(hasChanges: boolean): void {
  useBlocker({
    shouldBlockFn: () => hasChanges && !window.confirm('Your changes are not saved. Leave this page and lose them?'),
    enableBeforeUnload: hasChanges,
  });
}
