import { type KeyboardEvent, type ReactNode, useEffect, useLayoutEffect, useRef } from 'react';
import { type Early, positionOf } from './early.ts';

const movements = new Set(['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'Home', 'End', 'PageUp', 'PageDown']);
const editingKeys = new Set(['b', 'i', 'k', 'u', 'z', 'y', 'a', 'x']);
const keysOfInput: Record<string, string> = {
  insertParagraph: 'Enter',
  insertLineBreak: 'Enter',
  deleteContentBackward: 'Backspace',
  deleteContentForward: 'Delete',
};

/**
 * The picture of an editor that is not loaded yet: it shows the same text, has the focus and a cursor, and keeps what is typed
 * meanwhile in `early`, for the editor to do. Its `children` are never changed by what is typed.
 */
export function Standby({
  label,
  className,
  early,
  onComposing,
  children,
}: {
  label: string;
  className: string;
  early: Early;
  /** Called when a composition of characters begins and ends, which the editor must not interrupt. */
  onComposing: (isComposing: boolean) => void;
  children: ReactNode;
}) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const root = place.current;
    // React makes its own event of this one, which does not say what is deleted.
    const onInput = (event: InputEvent) => noteInput(event, early);
    root?.addEventListener('beforeinput', onInput);
    return () => root?.removeEventListener('beforeinput', onInput);
  }, [early]);
  // The last moment at which the focus and the selection are still here.
  useLayoutEffect(() => {
    const root = place.current;
    return () => {
      if (root) noteSelection(root, early);
    };
  }, [early]);
  return (
    // biome-ignore lint/a11y/useSemanticElements: an input cannot hold text with marks
    <div
      ref={place}
      className={className}
      role="textbox"
      aria-label={label}
      aria-multiline="true"
      tabIndex={0}
      contentEditable
      suppressContentEditableWarning
      spellCheck={false}
      onKeyDown={(event) => noteKey(event, early)}
      onMouseDown={(event) => notePress(event.target, early)}
      onPaste={(event) => {
        event.preventDefault();
        const [text, html] = ['text/plain', 'text/html'].map((type) => event.clipboardData.getData(type));
        early.inputs.push({ pasted: { text: text ?? '', html: html ?? '' } });
      }}
      onCut={(event) => event.preventDefault()}
      onDragOver={(event) => event.preventDefault()}
      // A file that is dropped here would be opened in the place of the page.
      onDrop={(event) => event.preventDefault()}
      onCompositionStart={() => onComposing(true)}
      onCompositionEnd={(event) => {
        early.inputs.push({ text: event.data });
        onComposing(false);
      }}
    >
      {children}
    </div>
  );
}

function noteInput(event: InputEvent, early: Early): void {
  if (event.isComposing) return;
  event.preventDefault();
  const key = keysOfInput[event.inputType];
  if (key) early.inputs.push({ key: keyOf({ key }) });
  else if (event.inputType === 'insertText' && event.data) early.inputs.push({ text: event.data });
}

function noteKey({ nativeEvent: event }: KeyboardEvent, early: Early): void {
  const isFirst = early.inputs.length === 0;
  const { key, ctrlKey, metaKey, altKey } = event;
  const isMovement = movements.has(key);
  const isCommand = (ctrlKey || metaKey) && editingKeys.has(key.toLowerCase());
  if (!isMovement && !isCommand) return;
  early.pressed = null;
  // The browser moves the cursor and selects in the picture, until something has been typed that it does not show.
  if (isFirst && !altKey && (isMovement || key.toLowerCase() === 'a')) return;
  event.preventDefault();
  early.inputs.push({ key: keyOf(event) });
}

const keyOf = (event: Partial<globalThis.KeyboardEvent>) => {
  const { key = '', code = '', ctrlKey = false, metaKey = false, altKey = false, shiftKey = false } = event;
  return { key, code, ctrlKey, metaKey, altKey, shiftKey };
};

function notePress(target: EventTarget, early: Early): void {
  const block = target instanceof Element ? target.closest<HTMLElement>('[contenteditable=false]') : null;
  early.pressed = block?.dataset.at === undefined ? null : Number(block.dataset.at);
}

function noteSelection(root: HTMLElement, early: Early): void {
  early.hasFocus = document.activeElement === root;
  const selection = document.getSelection();
  const { anchorNode, focusNode } = selection ?? {};
  if (
    !(selection && early.hasFocus && anchorNode && focusNode && root.contains(anchorNode) && root.contains(focusNode))
  )
    return;
  early.selection = {
    anchor: positionOf(root, anchorNode, selection.anchorOffset),
    head: positionOf(root, focusNode, selection.focusOffset),
  };
}
