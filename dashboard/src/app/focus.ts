import { useRouterState } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

const give = (place: HTMLElement | null) => place?.focus({ preventScroll: true });

/** Keeps the focus where it is of use to those who work by keyboard or with a screen reader. */
export function useKeptFocus(): void {
  useFocusOnPage();
  useEffect(watchFocus, []);
}

/**
 * Gives the focus to a page that was opened, so that the next Tab leads into it. A field that has taken the focus keeps it, and so does
 * the text of an email whose page gets its address when it is saved.
 */
function useFocusOnPage(): void {
  const pathname = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  const last = useRef(pathname);
  useEffect(() => {
    const isOther = last.current !== undefined && last.current !== pathname;
    last.current = pathname;
    if (isOther && !document.activeElement?.closest('main, [role="dialog"]')) give(document.querySelector('main'));
  }, [pathname]);
}

/** Gives the focus of a button that is gone, for instance with its row, to the part of the page around it. */
function watchFocus(): () => void {
  let path: EventTarget[] = [];
  const note = (event: FocusEvent) => {
    path = event.composedPath();
  };
  const observer = new MutationObserver(() => {
    const [last, ...parents] = path as HTMLElement[];
    if (!last || last.isConnected || document.activeElement !== document.body) return;
    path = [];
    // Above the elements are the document and the window.
    const around = parents.find((each) => each.isConnected && each.matches?.('section, main'));
    if (!around) return;
    if (!around.hasAttribute('tabindex')) around.tabIndex = -1;
    give(around);
  });
  document.addEventListener('focusin', note);
  observer.observe(document.body, { childList: true, subtree: true });
  return () => {
    document.removeEventListener('focusin', note);
    observer.disconnect();
  };
}
