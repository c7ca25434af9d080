import { type EmailDocument, readableOn } from '@posthorn/email-document';
import type { Editor, JSONContent } from '@tiptap/core';
import { EditorContent, useEditor } from '@tiptap/react';
import { type CSSProperties, useRef, useState } from 'react';
import { uploadImage } from '../pages/mail/image.ts';
import { toast } from '../ui/toasts.tsx';
import { Bubble } from './Bubble.tsx';
import { savedInsertable } from './catalog.ts';
import { DragHandle, type Hovered, hoveredBlock } from './DragHandle.tsx';
import { isSmallEnough } from './ImagePicker.tsx';
import { Inspector } from './Inspector.tsx';
import { BlockKeys } from './moves.ts';
import { emailNodes } from './nodes.ts';
import { type Suggested, Suggestions } from './suggest.ts';
import { EditorToolbar } from './Toolbar.tsx';
import './editor.css';

type Content = EmailDocument['content'];

/** Writes an email as blocks. It begins as `initial`; another content needs another key. */
export function EmailEditor({
  initial,
  variables,
  saved,
  color,
  onChange,
  onSave,
}: {
  initial: Content;
  variables: readonly string[];
  /** Blocks that the project has saved. */
  saved: readonly { name: string; content: JSONContent[] }[];
  /** Of buttons, as the brand kit has it. */
  color: string;
  onChange: (content: Content) => void;
  /** Asked to save the selected blocks. */
  onSave: (blocks: Content) => void;
}) {
  const [suggested, setSuggested] = useState<Suggested | null>(null);
  const insertable = saved.map(savedInsertable);
  const current = useRef({ variables, insertable, onChange });
  current.current = { variables, insertable, onChange };
  const [over, setOver] = useState<Hovered | null>(null);
  const [extensions] = useState(() => [
    ...emailNodes,
    BlockKeys,
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
      handlePaste: (_, event) => takeImages(event.clipboardData?.files, (url) => insertImage(editor, url)),
      handleDrop: (view, event) =>
        takeImages(event.dataTransfer?.files, (url) => {
          const at = view.posAtCoords({ left: event.clientX, top: event.clientY })?.pos;
          insertImage(editor, url, at);
        }),
    },
    onUpdate: ({ editor: changed }) => {
      setOver(null);
      current.current.onChange(blocksOf(changed));
    },
  });
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the pointer only shows the handle; blocks are moved by keys as well
    <div
      className="email-editor"
      style={{ '--brand': color, '--on-brand': readableOn(color) } as CSSProperties}
      onMouseMove={(event) => {
        const hovered = hoveredBlock(editor, event);
        if (hovered) setOver(hovered);
      }}
      onMouseLeave={() => setOver(null)}
    >
      <EditorToolbar
        editor={editor}
        variables={variables}
        saved={insertable}
        onSave={() => onSave(selectedBlocks(editor))}
      />
      <Inspector editor={editor} variables={variables} />
      <EditorContent editor={editor} />
      {over ? <DragHandle editor={editor} over={over} /> : null}
      <Bubble editor={editor} />
      {suggested ? <SuggestionList {...suggested} /> : null}
    </div>
  );
}

function blocksOf(editor: Editor): Content {
  return documented(editor.getJSON().content ?? []);
}

/** The blocks of the document that the selection touches. */
function selectedBlocks({ state: { doc, selection } }: Editor): Content {
  const [first, end] = [selection.$from.index(0), selection.$to.indexAfter(0)];
  const nodes = Array.from({ length: Math.max(1, end - first) }, (_, index) => doc.maybeChild(first + index));
  return documented(nodes.flatMap((node) => (node ? [node.toJSON()] : [])));
}

// What the nodes of the editor hold is what the schema of documents describes, but for texts that are empty.
function documented(nodes: JSONContent[]): Content {
  const whole = (node: JSONContent): JSONContent => {
    if (node.content) return { ...node, content: node.content.map(whole) };
    return node.type === 'paragraph' || node.type === 'heading' ? { ...node, content: [] } : node;
  };
  return nodes.map(whole) as unknown as Content;
}

function takeImages(files: FileList | undefined, insert: (url: string) => void): boolean {
  const images = [...(files ?? [])].filter(({ type }) => type.startsWith('image/'));
  for (const image of images.filter(isSmallEnough))
    uploadImage(image).then(
      ({ url }) => insert(url),
      (error: unknown) => toast(error instanceof Error ? error.message : 'The image was not uploaded.', 'bad'),
    );
  return images.length > 0;
}

function insertImage(editor: Editor, src: string, at?: number): void {
  editor
    .chain()
    .focus()
    .insertContentAt(at ?? editor.state.selection.to, { type: 'image', attrs: { src } })
    .run();
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
