import { type RefObject, useEffect, useRef } from 'react';
import type { CanvasEdits } from './Canvas.tsx';

/** The steps copied last in this tab, for browsers that do not let pages read the clipboard. */
let lastCopied: string | null = null;

/** Puts a text onto the clipboard from a menu. */
export async function writeClipboard(text: string): Promise<void> {
  lastCopied = text;
  // A page that came over plain HTTP has no clipboard but this one.
  await navigator.clipboard?.writeText(text).catch(() => undefined);
}

/** The text of the clipboard, for a menu; what was copied in this tab where the browser refuses it. */
export async function readClipboard(): Promise<string | null> {
  return (await navigator.clipboard?.readText().catch(() => null)) ?? lastCopied;
}

/** Lets the browser's own copy, cut and paste work on the steps of a canvas while the focus is in it. */
export function useClipboardKeys(place: RefObject<HTMLElement | null>, edits: CanvasEdits | undefined): void {
  const latest = useRef(edits);
  latest.current = edits;
  useEffect(() => {
    const isHere = () => {
      const focused = document.activeElement;
      return focused !== null && place.current?.contains(focused) && !focused.closest('input, textarea');
    };
    const onTake = (event: ClipboardEvent) => {
      if (!isHere() || !window.getSelection()?.isCollapsed) return;
      const text = event.type === 'cut' ? latest.current?.onCut() : latest.current?.onCopy();
      if (!text) return;
      lastCopied = text;
      event.clipboardData?.setData('text/plain', text);
      event.preventDefault();
    };
    const onPaste = (event: ClipboardEvent) => {
      if (!isHere() || !latest.current) return;
      latest.current.onPaste(event.clipboardData?.getData('text/plain') ?? '');
      event.preventDefault();
    };
    document.addEventListener('copy', onTake);
    document.addEventListener('cut', onTake);
    document.addEventListener('paste', onPaste);
    return () => {
      document.removeEventListener('copy', onTake);
      document.removeEventListener('cut', onTake);
      document.removeEventListener('paste', onPaste);
    };
  }, [place]);
}
