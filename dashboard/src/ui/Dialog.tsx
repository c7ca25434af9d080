import { AlertDialog, Dialog as Primitive } from 'radix-ui';
import { type ReactNode, useState } from 'react';
import { Button } from './Button.tsx';
import { TextField } from './Field.tsx';
import { Problem } from './States.tsx';

// Our dialogs have no trigger of their own that the focus could go back to, so they remember where it was.
function useFocusBack(): (event: Event) => void {
  const [before] = useState(() => document.activeElement);
  return (event) => {
    event.preventDefault();
    if (before instanceof HTMLElement && before.isConnected) before.focus();
  };
}

/** A dialog that is open while it is rendered; the focus goes back to where it was. */
export function Dialog({
  title,
  description,
  onClose,
  children,
}: {
  title: string;
  description?: ReactNode;
  onClose: () => void;
  children: ReactNode;
}) {
  const focusBack = useFocusBack();
  return (
    <Primitive.Root open onOpenChange={(open) => !open && onClose()}>
      <Primitive.Portal>
        <Primitive.Overlay className="overlay" />
        <Primitive.Content
          className="dialog"
          onCloseAutoFocus={focusBack}
          {...(description ? {} : { 'aria-describedby': undefined })}
        >
          <Primitive.Title asChild>
            <h2>{title}</h2>
          </Primitive.Title>
          {description ? <Primitive.Description className="muted">{description}</Primitive.Description> : null}
          {children}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}

/**
 * Asks before something is destroyed, and names it. With `typed`, that text has to be typed first, for what cannot come back.
 */
export function ConfirmDialog({
  title,
  children,
  action,
  typed,
  onConfirm,
  onClose,
}: {
  title: string;
  children: ReactNode;
  action: string;
  typed?: string;
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
        <AlertDialog.Overlay className="overlay" />
        <AlertDialog.Content className="dialog" onCloseAutoFocus={focusBack}>
          <AlertDialog.Title asChild>
            <h2>{title}</h2>
          </AlertDialog.Title>
          <AlertDialog.Description asChild>
            <div className="break">{children}</div>
          </AlertDialog.Description>
          {typed ? (
            <TextField
              label={`Type “${typed}” to go on`}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          ) : null}
          {error ? <Problem error={error} /> : null}
          <footer>
            <AlertDialog.Cancel asChild>
              <Button>Keep it</Button>
            </AlertDialog.Cancel>
            <Button look="danger" busy={busy} disabled={typed !== undefined && text !== typed} onClick={confirm}>
              {action}
            </Button>
          </footer>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
