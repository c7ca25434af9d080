import { type ReactNode, useState } from 'react';
import { useOverlays } from './overlays/use-overlays.ts';

// An item of a menu is gone with its menu, whose button stays.
function focused(): Element | null {
  const menu = document.activeElement?.closest('[role=menu]');
  return menu ? document.getElementById(menu.getAttribute('aria-labelledby') ?? '') : document.activeElement;
}

/** Where the focus goes when what is opened by its caller closes. */
export function useFocusBack(): (event: Event) => void {
  // Our dialogs have no trigger of their own that the focus could go back to, so they remember where it was. What they have
  // removed, such as the row with its button, cannot have it: then the page has it, and not the top of the menu.
  const [before] = useState(focused);
  return (event) => {
    event.preventDefault();
    const place = before instanceof HTMLElement && before.isConnected ? before : document.querySelector('main');
    place?.focus();
  };
}

export interface DialogProps {
  title: string;
  description?: ReactNode;
  /** For what is compared or previewed in it. */
  wide?: boolean;
  onClose: () => void;
  children: ReactNode;
}

/** A dialog that is open while it is rendered; the focus goes back to where it was. */
export function Dialog(props: DialogProps) {
  const focusBack = useFocusBack();
  const part = useOverlays(true);
  return part ? <part.OpenDialog {...props} focusBack={focusBack} /> : null;
}

export interface ConfirmDialogProps {
  title: string;
  children: ReactNode;
  action: string;
  /** Label of the button that cancels. */
  wayOut?: string;
  /** `primary` for what destroys nothing. */
  variant?: 'danger' | 'primary';
  typed?: string;
  /** Unset while something has to be filled in first. */
  isReady?: boolean;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}

/**
 * Asks before something is destroyed or cannot be called back, and names it. With `typed`, that text has to be typed first,
 * for what cannot come back.
 */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const focusBack = useFocusBack();
  const part = useOverlays(true);
  return part ? <part.OpenConfirmDialog {...props} focusBack={focusBack} /> : null;
}
