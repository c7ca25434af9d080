import { type Brand, fonts, readableOn } from '@fernpost/email-document';
import type { Editor, JSONContent } from '@tiptap/core';
import { type CSSProperties, type ReactNode, useEffect, useReducer, useRef, useState } from 'react';
import { nothingYet } from '../standby/early.ts';
import { Standby } from '../standby/Standby.tsx';
import { usePart } from '../standby/use-part.ts';
import { savedInsertable } from './catalog.ts';
import { type Act, type Content, selectedBlocks } from './content.ts';
import { Picture } from './Picture.tsx';
import { EditorToolbar } from './Toolbar.tsx';
import './editor.css';

const load = () => import('./BlockEditor.tsx');

/**
 * Writes an email as blocks, in the brand of the project; beside it are the settings of the selected block, above `side`. It begins as
 * `initial`; another content needs another key. Until somebody uses the page it is a picture of the email with the toolbar; what is
 * done there meanwhile is done once the editor is there.
 */
export function EmailEditor({
  initial,
  email,
  variables,
  saved,
  brand,
  side,
  onChange,
  onSave,
}: {
  initial: Content;
  /** Names the email for what can be undone after a reload; undefined where that is not kept. */
  email: string | undefined;
  variables: readonly string[];
  /** Blocks that the project has saved. */
  saved: readonly { name: string; content: JSONContent[] }[];
  brand: Brand;
  side: ReactNode;
  onChange: (content: Content) => void;
  /** Asked to save the selected blocks. */
  onSave: (blocks: Content) => void;
}) {
  const part = usePart(load);
  const [isComposing, setComposing] = useState(false);
  const [isLinking, setLinking] = useState(false);
  const { editor, setEditor, act } = useEditorToCome();
  const [early] = useState(nothingYet);
  const insertable = saved.map(savedInsertable);
  return (
    <>
      <div className="email-editor">
        <EditorToolbar
          editor={editor}
          act={act}
          variables={variables}
          saved={insertable}
          onLink={() => act(() => setLinking(true))}
          onSave={() => act((ready) => onSave(selectedBlocks(ready)))}
        />
        <div className="mail-canvas" style={looksOf(brand)}>
          <div className="mail-paper">
            {brand.logoUrl ? <img className="logo" src={brand.logoUrl} alt={brand.logoAlt} /> : null}
            {part && !isComposing ? (
              <part.BlockEditor
                initial={initial}
                variables={variables}
                insertable={insertable}
                early={early}
                email={email}
                isLinking={isLinking}
                onLinking={setLinking}
                onEditor={setEditor}
                onChange={onChange}
              />
            ) : (
              <Standby label="Body" className="ProseMirror" early={early} onComposing={setComposing}>
                <Picture content={initial.length === 0 ? [{ type: 'paragraph' }] : initial} />
              </Standby>
            )}
          </div>
        </div>
      </div>
      <div className="mail-side">
        {part && editor ? <part.Inspector editor={editor} variables={variables} /> : null}
        {side}
      </div>
    </>
  );
}

/** The colors and the font of the canvas, which are those of the email as it arrives. */
function looksOf({ primaryColor, textColor, backgroundColor, font }: Brand): CSSProperties {
  const onPaper = readableOn(primaryColor) === '#ffffff' ? primaryColor : textColor;
  return {
    '--brand': primaryColor,
    '--on-brand': readableOn(primaryColor),
    '--email-link': onPaper,
    '--email-text': textColor,
    '--email-page': backgroundColor,
    '--email-font': fonts[font],
  } as CSSProperties;
}

/** The editor, whose changes are rendered, and what has to wait for it. */
function useEditorToCome() {
  const [editor, setEditor] = useState<Editor | null>(null);
  const [, changed] = useReducer((count: number) => count + 1, 0);
  const waiting = useRef<((editor: Editor) => unknown)[]>([]);
  useEffect(() => {
    if (editor === null) return undefined;
    for (const work of waiting.current.splice(0)) work(editor);
    editor.on('transaction', changed);
    return () => {
      editor.off('transaction', changed);
    };
  }, [editor]);
  const act: Act = (work) => {
    if (editor) work(editor);
    else waiting.current.push(work);
  };
  return { editor, setEditor, act };
}
