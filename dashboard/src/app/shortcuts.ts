import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { places } from './places.ts';

/** The overlays of the shell that are open above the page. */
export type Opened = 'palette' | 'shortcuts' | null;

/** How long after `g` the second key may come, in milliseconds. */
const patience = 1_500;

/** Listens for the shortcuts of the shell. Keys of somebody who types, or who is in a dialog, are theirs. */
export function useShortcuts(project: string, open: (what: Opened) => void): void {
  const navigate = useNavigate();
  const armed = useRef(0);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      // The editor of emails has taken it, for a link.
      if (event.defaultPrevented) return;
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k' && !event.shiftKey && !event.altKey) {
        event.preventDefault();
        open('palette');
        return;
      }
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target) || isCovered()) return;
      const wasArmed = event.timeStamp - armed.current < patience;
      armed.current = 0;
      if (event.key === '?') open('shortcuts');
      else if (event.key === '/') {
        const search = document.querySelector<HTMLInputElement>('main input[type="search"]');
        if (search === null) return;
        search.focus();
      } else if (wasArmed) {
        const place = places.flatMap(({ pages }) => pages).find(({ letter }) => letter === event.key.toLowerCase());
        if (!place) return;
        void navigate({ to: place.to, params: { project } });
      } else if (event.key === 'g') {
        armed.current = event.timeStamp;
        return;
      } else return;
      event.preventDefault();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [navigate, open, project]);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

function isCovered(): boolean {
  return document.querySelector('[role="dialog"], [role="alertdialog"], [role="menu"]') !== null;
}
