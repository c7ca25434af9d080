import { Button } from '../../../ui/Button.tsx';
import { CopyButton } from '../../../ui/CopyButton.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { Note } from '../../../ui/States.tsx';

/** A secret that the service shows once: it stays until somebody closes it on purpose. */
export function ShownOnce({
  title,
  what,
  secret,
  more,
  onClose,
}: {
  title: string;
  /** The name of the secret within a sentence. */
  what: string;
  secret: string;
  more?: string | undefined;
  onClose: () => void;
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      <Note tone="warn">Copy {what} now. You can’t see it again.</Note>
      <div className="row">
        <code className="break rounded-md border border-line bg-sunken px-2 py-1" data-slot="secret">
          {secret}
        </code>
        <CopyButton text={secret} what={what} />
      </div>
      {more ? <p className="muted">{more}</p> : null}
      <footer>
        <Button variant="primary" onClick={onClose}>
          Done
        </Button>
      </footer>
    </Dialog>
  );
}
