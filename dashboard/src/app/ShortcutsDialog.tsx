import { Dialog } from '../ui/Dialog.tsx';
import { Kbd } from '../ui/Kbd.tsx';
import { keyLists } from './key-lists.ts';

/** The list of keyboard shortcuts. */
export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" wide onClose={onClose}>
      <section
        aria-label="Keys"
        className="stack min-h-0 overflow-auto"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1)
        tabIndex={0}
      >
        {keyLists.map(({ place, list }) => (
          <section key={place} aria-label={place}>
            <h3 className="mb-2">{place}</h3>
            <Keys of={list} />
          </section>
        ))}
      </section>
    </Dialog>
  );
}

/** Keys and what each does. */
export function Keys({ of, narrow = false }: { of: (typeof keyLists)[number]['list']; narrow?: boolean }) {
  return (
    <dl className={`grid gap-x-8 gap-y-1.5 ${narrow ? '' : 'sm:grid-cols-2'}`}>
      {of.map(({ name, keys, or = [] }) => (
        <div key={name} className="flex items-center justify-between gap-3">
          <dt>{name}</dt>
          <dd className="flex items-center gap-1 whitespace-nowrap">
            <Caps keys={keys} />
            {or.length > 0 ? (
              <>
                <span className="muted">or</span> <Caps keys={or} />
              </>
            ) : null}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Caps({ keys }: { keys: readonly string[] }) {
  // biome-ignore lint/suspicious/noArrayIndexKey: a key may be pressed twice
  return keys.map((key, index) => <Kbd key={index}>{key}</Kbd>);
}
