import { Dialog } from '../ui/Dialog.tsx';
import { Kbd } from '../ui/Kbd.tsx';
import { shortcuts, writingShortcuts } from './shortcuts.ts';

/** The list of keyboard shortcuts. */
export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <Keys of={shortcuts} />
      <h3>While writing an email</h3>
      <Keys of={writingShortcuts} />
    </Dialog>
  );
}

function Keys({ of }: { of: typeof shortcuts }) {
  return (
    <dl className="grid gap-x-8 gap-y-1.5 sm:grid-cols-2">
      {of.map(({ name, keys }) => (
        <div key={name} className="flex items-center justify-between gap-3">
          <dt>{name}</dt>
          <dd className="flex gap-1">
            {keys.map((key, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a key may be pressed twice
              <Kbd key={index}>{key}</Kbd>
            ))}
          </dd>
        </div>
      ))}
    </dl>
  );
}
