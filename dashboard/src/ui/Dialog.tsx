import { AlertDialog, Dialog as Primitive } from 'radix-ui';
import { type ReactNode, useState } from 'react';
import { Button } from './Button.tsx';
import { TextField } from './Field.tsx';
import { Problem } from './States.tsx';

const overlay = 'fixed inset-0 z-10 bg-[rgb(0_0_0/45%)]';
const widths = { normal: 'w-[min(36rem,calc(100vw-2rem))]', wide: 'w-[min(72rem,calc(100vw-2rem))]' };
const dialog =
  'fixed top-1/2 left-1/2 z-10 flex max-h-[calc(100dvh-2rem)] -translate-1/2 flex-col gap-4 overflow-auto rounded-xl border border-line bg-raised p-5 shadow-float [&_footer]:flex [&_footer]:flex-wrap [&_footer]:justify-end [&_footer]:gap-2';

// Our dialogs have no trigger of their own that the focus could go back to, so they remember where it was. What they have
// removed, such as the row with its button, cannot have it: then the page has it, and not the top of the menu.
function useFocusBack(): (event: Event) => void {
  const [before] = useState(() => document.activeElement);
  return (event) => {
    event.preventDefault();
    const place = before instanceof HTMLElement && before.isConnected ? before : document.querySelector('main');
    place?.focus();
  };
}

/** A dialog that is open while it is rendered; the focus goes back to where it was. */
export function Dialog({
  title,
  description,
  wide = false,
  onClose,
  children,
}: {
  title: string;
  description?: ReactNode;
  /** For what is compared or previewed in it. */
  wide?: boolean;
  onClose: () => void;
  children: ReactNode;
}) {
  const focusBack = useFocusBack();
  return (
    <Primitive.Root open onOpenChange={(open) => !open && onClose()}>
      <Primitive.Portal>
        <Primitive.Overlay className={overlay} />
        <Primitive.Content
          className={`${dialog} ${widths[wide ? 'wide' : 'normal']}`}
          onCloseAutoFocus={focusBack}
          {...(description ? {} : { 'aria-describedby': undefined })}
        >
          <Primitive.Title asChild>
            <h2 className="break text-lg">{title}</h2>
          </Primitive.Title>
          {description ? (
            <Primitive.Description className="-mt-2 text-muted">{description}</Primitive.Description>
          ) : null}
          {children}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}

/**
 * Asks before something is destroyed or cannot be called back, and names it. With `typed`, that text has to be typed first,
 * for what cannot come back.
 */
export function ConfirmDialog({
  title,
  children,
  action,
  wayOut = 'Cancel',
  look = 'danger',
  typed,
  isReady = true,
  onConfirm,
  onClose,
}: {
  title: string;
  children: ReactNode;
  action: string;
  /** What the button is called that does nothing. */
  wayOut?: string;
  /** `primary` for what destroys nothing. */
  look?: 'danger' | 'primary';
  typed?: string;
  /** Unset while something has to be filled in first. */
  isReady?: boolean;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}) {
  const [text, setText] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const focusBack = useFocusBack();
  const confirm = async () => {
    setBusy(true);
    try {
      await onConfirm();
      onClose();
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  return (
    <AlertDialog.Root open onOpenChange={(open) => !open && onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className={overlay} />
        <AlertDialog.Content className={`${dialog} ${widths.normal}`} onCloseAutoFocus={focusBack}>
          <AlertDialog.Title asChild>
            <h2 className="break text-lg">{title}</h2>
          </AlertDialog.Title>
          <AlertDialog.Description asChild>
            <div className="break">{children}</div>
          </AlertDialog.Description>
          {typed ? (
            <TextField
              label={`Type “${typed}” to confirm`}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          ) : null}
          {error ? <Problem error={error} /> : null}
          <footer>
            <AlertDialog.Cancel asChild>
              <Button>{wayOut}</Button>
            </AlertDialog.Cancel>
            <Button
              look={look}
              busy={busy}
              disabled={!isReady || (typed !== undefined && text !== typed)}
              onClick={confirm}
            >
              {action}
            </Button>
          </footer>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
