import { designing } from '../../../app/key-lists.ts';
import { Keys } from '../../../app/ShortcutsDialog.tsx';

/** How steps are added and connected, and when edits take effect. */
export function EditingHints({ publishes }: { publishes: boolean }) {
  return (
    <>
      <p>
        Drag a step onto the canvas, or use + on a path. Select a step to edit it. Drag from the lower edge of a step to
        connect it.
      </p>
      <p>
        Changes stay in this browser until you {publishes ? 'publish' : 'save'} them. Nothing changes for contacts
        before that.
      </p>
    </>
  );
}

/** The keys of the canvas and what each does. */
export function KeyList() {
  return (
    <div className="mt-2">
      <Keys of={designing} narrow />
    </div>
  );
}
