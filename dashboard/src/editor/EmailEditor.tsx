import { readableOn } from '@fernpost/email-document';
import type { Editor, JSONContent } from '@tiptap/core';
import { type CSSProperties, useEffect, useReducer, useRef, useState } from 'react';
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
 * Writes an email as blocks. It begins as `initial`; another content needs another key. Until somebody uses the page it is a
 * picture of the email with the toolbar; what is done there meanwhile is done once the editor is there.
 */
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
  const part = usePart(load);
  const [isComposing, setComposing] = useState(false);
  const { editor, setEditor, act } = useEditorToCome();
  const [early] = useState(nothingYet);
  const insertable = saved.map(savedInsertable);
  return (
    <div className="email-editor" style={{ '--brand': color, '--on-brand': readableOn(color) } as CSSProperties}>
      <EditorToolbar
        editor={editor}
        act={act}
        variables={variables}
        saved={insertable}
        onSave={() => act((ready) => onSave(selectedBlocks(ready)))}
      />
      {part && !isComposing ? (
        <part.BlockEditor
          initial={initial}
          variables={variables}
          insertable={insertable}
          early={early}
          onEditor={setEditor}
          onChange={onChange}
        />
      ) : (
        <Standby label="Body" className="ProseMirror" early={early} onComposing={setComposing}>
          <Picture content={initial.length === 0 ? [{ type: 'paragraph' }] : initial} />
        </Standby>
      )}
    </div>
  );
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
