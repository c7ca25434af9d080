import type { Editor } from '@tiptap/core';
import { TextSelection } from '@tiptap/pm/state';
import { EditorContent, useEditor } from '@tiptap/react';
import { useLayoutEffect, useRef, useState } from 'react';
import { type Early, type Successor, takeOver } from '../standby/early.ts';
import { usePart } from '../standby/use-part.ts';
import { Bubble } from './Bubble.tsx';
import { BlockKeys } from './block-keys.ts';
import type { Insertable } from './catalog.ts';
import { type Content, documented } from './content.ts';
import { DragHandle, type Hovered, hoveredBlock } from './DragHandle.tsx';
import { cleanedHtml, columnWidth, dropLast, imagesOf, insertImage, pastedImages } from './dropped.ts';
import { emailNodes } from './nodes.ts';
import { type Suggested, Suggestions } from './suggest.ts';
import { keepUndo } from './undo-history.ts';

export { Inspector } from './Inspector.tsx';

const loadImages = () => import('./ImageDialog.tsx');

/** An image that is dropped or pasted, and where it goes: below the selection where that is not said. */
interface Arriving {
  file: File;
  at?: number | undefined;
}

// In pixels: on small windows the toolbar and the settings of a block stand over the text at their edges.
const covered = () =>
  window.matchMedia('(min-width: 64rem)').matches
    ? { top: 40, right: 0, bottom: 40, left: 0 }
    : { top: 100, right: 0, bottom: 200, left: 0 };

interface BlockEditorProps {
  initial: Content;
  variables: readonly string[];
  /** Blocks that the project has saved. */
  insertable: readonly Insertable[];
  early: Early;
  /** Names the email for what can be undone after a reload; undefined where that is not kept. */
  email: string | undefined;
  /** Whether the address of a link is being asked for. */
  isLinking: boolean;
  onLinking: (isLinking: boolean) => void;
  onEditor: (editor: Editor) => void;
  onChange: (content: Content) => void;
}

/** The part of the editor of emails that is loaded for writing. It begins with what was typed in its picture. */
export function BlockEditor({
  initial,
  variables,
  insertable,
  early,
  email,
  isLinking,
  onLinking,
  onEditor,
  onChange,
}: BlockEditorProps) {
  const [suggested, setSuggested] = useState<Suggested | null>(null);
  const current = useRef({ variables, insertable, onChange });
  current.current = { variables, insertable, onChange };
  const [over, setOver] = useState<Hovered | null>(null);
  const [arriving, setArriving] = useState<readonly Arriving[]>([]);
  /** Asks about images one after another. Answers whether there are any. */
  const take = (files: File[], at?: number) => {
    setArriving((before) => [...before, ...files.map((file) => ({ file, at }))]);
    return files.length > 0;
  };
  const [extensions] = useState(() => [
    ...emailNodes,
    BlockKeys.configure({ onLink: () => onLinking(true) }),
    Suggestions.configure({
      variables: () => current.current.variables,
      saved: () => current.current.insertable,
      show: setSuggested,
    }),
  ]);
  const editor = useEditor({
    extensions,
    content: { type: 'doc', content: initial.length === 0 ? [{ type: 'paragraph' }] : initial },
    shouldRerenderOnTransaction: true,
    // Its style sheet would be one that the page's policy refuses; editor.css has what is needed of it.
    injectCSS: false,
    editorProps: {
      attributes: { role: 'textbox', 'aria-label': 'Body', 'aria-multiline': 'true' },
      scrollThreshold: covered(),
      scrollMargin: covered(),
      transformPastedHTML: (html): string => cleanedHtml(editor, html),
      handlePaste: (_, event) => take(pastedImages(event.clipboardData)),
      handleDrop: (view, event, slice, isMoved) =>
        take(imagesOf(event.dataTransfer?.files), view.posAtCoords({ left: event.clientX, top: event.clientY })?.pos) ||
        (isMoved && dropLast(view, event.clientY, slice)),
    },
    onUpdate: ({ editor: changed }) => {
      setOver(null);
      current.current.onChange(documented(changed.getJSON().content ?? []));
    },
  });
  useUndoAfterReload(editor, email);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once and at once, so that no key falls between the picture and the editor
  useLayoutEffect(() => {
    takeOver(successorIn(editor), early);
    onEditor(editor);
  }, [editor]);
  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the pointer only shows the handle; blocks are moved by keys as well */}
      <div
        className="written"
        onMouseMove={(event) => {
          const hovered = hoveredBlock(editor, event);
          if (hovered) setOver(hovered);
        }}
        onMouseLeave={() => setOver(null)}
      >
        <EditorContent editor={editor} />
        {over ? <DragHandle editor={editor} over={over} /> : null}
      </div>
      <Bubble editor={editor} isLinking={isLinking} onLinking={onLinking} />
      {suggested ? <SuggestionList {...suggested} /> : null}
      <ArrivingImage editor={editor} arriving={arriving} onDone={() => setArriving((before) => before.slice(1))} />
    </>
  );
}

/** Asks about the first image that arrives. */
function ArrivingImage({
  editor,
  arriving,
  onDone,
}: {
  editor: Editor;
  arriving: readonly Arriving[];
  onDone: () => void;
}) {
  const [first] = arriving;
  const part = usePart(loadImages, first !== undefined);
  if (!(part && first)) return null;
  const { file, at } = first;
  return (
    <part.ImageDialog
      key={arriving.length}
      file={file}
      column={columnWidth(editor, at ?? editor.state.selection.to)}
      onInsert={(image) => insertImage(editor, image, at)}
      onClose={onDone}
    />
  );
}

/** Keeps what can be undone. It is called before the editor takes over what was typed meanwhile, which comes on top. */
function useUndoAfterReload(editor: Editor, email: string | undefined): void {
  const current = useRef(email);
  current.current = email;
  const isKept = email !== undefined;
  useLayoutEffect(() => (isKept ? keepUndo(editor, () => current.current ?? '') : undefined), [editor, isKept]);
}

function successorIn(editor: Editor): Successor {
  const { view } = editor;
  return {
    dom: view.dom,
    focus: () => view.focus(),
    select: (anchor, head) => {
      const { doc, tr } = view.state;
      const place = (position: number) => doc.resolve(Math.min(position, doc.content.size));
      view.dispatch(tr.setSelection(TextSelection.between(place(anchor), place(head))));
    },
    selectBlock: (position) => editor.commands.setNodeSelection(position),
    insert: (text) => {
      const { from, to } = view.state.selection;
      const insert = () => view.state.tr.insertText(text, from, to);
      if (!view.someProp('handleTextInput', (handle) => handle(view, from, to, text, insert))) view.dispatch(insert());
    },
    paste: ({ text, html }) => (html === '' ? view.pasteText(text) : view.pasteHTML(html)),
    erase: (direction) => {
      const { tr, selection } = view.state;
      const other = selection.from + direction;
      view.dispatch(tr.delete(Math.min(selection.from, other), Math.max(selection.from, other)));
    },
  };
}

function SuggestionList({ label, names, chosen, place, choose }: Suggested) {
  const below = place === null || place.bottom + 330 < window.innerHeight;
  const top = place === null ? 0 : below ? place.bottom + 4 : Math.max(8, place.top - 324);
  return (
    <div
      className="email-popup"
      role="listbox"
      aria-label={label}
      style={{ top, left: place?.left ?? 0 }}
      tabIndex={-1}
    >
      {names.map((name, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the editor, which keeps the focus
        <div
          key={name}
          role="option"
          tabIndex={-1}
          aria-selected={index === chosen}
          ref={index === chosen ? (element) => element?.scrollIntoView({ block: 'nearest' }) : null}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => choose(index)}
        >
          {name}
        </div>
      ))}
    </div>
  );
}
