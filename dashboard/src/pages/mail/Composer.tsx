import { Ellipsis, Eye, EyeOff } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { mod } from '../../app/mod-key.ts';
import { Button } from '../../ui/Button.tsx';
import { Menu } from '../../ui/Menu.tsx';
import { useTitle } from '../../ui/Page.tsx';
import { Problem } from '../../ui/States.tsx';
import './composer.css';

/** The page on which a campaign or a template is written. It has the whole window: the way back, the name, what can be done, the content. */
export function Composer({
  title,
  name,
  onName,
  above,
  about,
  actions,
  error,
  save,
  onPreview,
  children,
}: {
  /** Shown in the place of a name that is not written yet. */
  title: string;
  name: string;
  onName: (name: string) => void;
  above: ReactNode;
  about?: ReactNode;
  actions: ReactNode;
  error: unknown;
  /** Saves what has changed; null while there is nothing to save. */
  save: (() => void) | null;
  /** Null where nothing is previewed. */
  onPreview: (() => void) | null;
  children: ReactNode;
}) {
  useTitle(name || title);
  useKeys({ s: save, p: onPreview });
  return (
    <div className="composer" data-full>
      <header className="flex flex-wrap items-center gap-x-3 gap-y-2 border-b border-line px-3 py-2">
        <nav
          aria-label="Breadcrumb"
          className="text-sm text-muted [&_a]:text-muted [&_a]:no-underline [&_a:hover]:text-ink"
        >
          {above} <span aria-hidden>/</span>
        </nav>
        <h1 className="sr-only" dir="auto">
          {name || title}
        </h1>
        <input
          className="composer-name"
          aria-label="Name"
          title="For your team. Recipients never see it."
          placeholder={title}
          required
          dir="auto"
          value={name}
          onChange={(event) => onName(event.target.value)}
        />
        {about}
        <div className="row ms-auto">{actions}</div>
      </header>
      {error ? (
        <div className="px-3 pt-2">
          <Problem error={error} />
        </div>
      ) : null}
      {children}
    </div>
  );
}

/** What else can be done with what is written. */
export function MoreMenu({ children }: { children: ReactNode }) {
  return (
    <Menu
      trigger={
        <Button aria-label="More actions">
          <Ellipsis aria-hidden />
        </Button>
      }
    >
      {children}
    </Menu>
  );
}

/** Opens and closes the preview. */
export function PreviewButton({ isOpen, onClick }: { isOpen: boolean; onClick: () => void }) {
  return (
    <Button variant="plain" aria-pressed={isOpen} title={`${mod}+P`} onClick={onClick}>
      {isOpen ? <EyeOff aria-hidden /> : <Eye aria-hidden />} Preview
    </Button>
  );
}

/** Where the text, the settings of its blocks and the preview have room beside one another. */
const wide = window.matchMedia('(min-width: 90rem)');
const subscribe = (changed: () => void) => {
  wide.addEventListener('change', changed);
  return () => wide.removeEventListener('change', changed);
};

/** Whether the preview is shown, and what turns it: on wide windows it is, until it is closed. */
export function usePreview(): [isOpen: boolean, toggle: () => void] {
  const isWide = useSyncExternalStore(subscribe, () => wide.matches);
  const [chosen, setChosen] = useState<boolean | null>(null);
  const isOpen = chosen ?? isWide;
  return [isOpen, () => setChosen(!isOpen)];
}

/** Keys that work everywhere on the page with Ctrl or Cmd, and never do what the browser does by them. */
function useKeys(keys: Record<string, (() => void) | null>): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
      const work = current.current[event.key.toLowerCase()];
      if (work === undefined) return;
      event.preventDefault();
      if (document.querySelector('[role="dialog"], [role="alertdialog"]') === null) work?.();
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, []);
}
