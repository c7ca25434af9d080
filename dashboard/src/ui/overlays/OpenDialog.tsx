import * as AlertDialog from '@radix-ui/react-alert-dialog';
import * as Primitive from '@radix-ui/react-dialog';
import { useState } from 'react';
import { Button } from '../Button.tsx';
import type { ConfirmDialogProps, DialogProps } from '../Dialog.tsx';
import { TextField } from '../Field.tsx';
import { Problem } from '../States.tsx';

interface FocusBack {
  /** Called when the dialog closes, to say where the focus goes. */
  focusBack: (event: Event) => void;
}

const overlay = 'fixed inset-0 z-10 bg-[rgb(0_0_0/45%)]';
const widths = { normal: 'w-[min(36rem,calc(100vw-2rem))]', wide: 'w-[min(72rem,calc(100vw-2rem))]' };
const dialog =
  'fixed top-1/2 left-1/2 z-10 flex max-h-[calc(100dvh-2rem)] -translate-1/2 flex-col gap-4 overflow-auto rounded-xl border border-line bg-raised p-5 shadow-float [&_footer]:flex [&_footer]:flex-wrap [&_footer]:justify-end [&_footer]:gap-2';

/** Renders an open `Dialog`. */
export function OpenDialog({
  title,
  description,
  wide = false,
  focusBack,
  onClose,
  children,
}: DialogProps & FocusBack) {
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

/** Renders an open `ConfirmDialog`. */
export function OpenConfirmDialog({
  title,
  children,
  action,
  wayOut = 'Cancel',
  variant = 'danger',
  typed,
  isReady = true,
  focusBack,
  onConfirm,
  onClose,
}: ConfirmDialogProps & FocusBack) {
  const [text, setText] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
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
              variant={variant}
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
