import { type EmailDocument, starters } from '@posthorn/email-document';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { blankDocument } from './content.ts';

/** What a layout begins with. */
export interface Layout {
  document: EmailDocument;
  subject: string;
}

const layouts = [
  { id: 'blank', name: 'Blank', about: 'An empty email.', subject: '', document: blankDocument },
  ...starters,
];

/** Chooses what an email begins with. */
export function LayoutDialog({ onChoose, onClose }: { onChoose: (layout: Layout) => void; onClose: () => void }) {
  return (
    <Dialog
      title="Start from a layout"
      description="Replaces the blocks of this email. You can undo it by not saving."
      onClose={onClose}
    >
      <ul className="layouts">
        {layouts.map(({ id, name, about, subject, document }) => (
          <li key={id}>
            <button
              type="button"
              onClick={() => {
                onChoose({ document, subject });
                onClose();
              }}
            >
              <strong>{name}</strong>
              <span className="muted">{about}</span>
            </button>
          </li>
        ))}
      </ul>
      <footer>
        <Button onClick={onClose}>Cancel</Button>
      </footer>
    </Dialog>
  );
}
