import { autocompletion } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { html } from '@codemirror/lang-html';
import { liquid } from '@codemirror/lang-liquid';
import { bracketMatching, defaultHighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { type RefObject, useEffect, useRef } from 'react';

const look = EditorView.theme({
  '&': {
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--radius)',
    maxHeight: '60dvh',
    fontSize: '0.9rem',
  },
  '.cm-scroller': { overflow: 'auto', fontFamily: 'var(--mono)', minHeight: '16rem' },
  '.cm-gutters': { background: 'transparent', color: 'var(--muted)', border: 'none' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
});

/** Puts a text where the cursor of the editor is. */
export type Insert = (text: string) => void;

/**
 * An editor for HTML with Liquid. Tab leaves it, as it leaves every other field. `variables` are offered while typing; `insert`
 * is set while the editor stands.
 */
export function CodeEditor({
  label,
  value,
  variables,
  insert,
  onChange,
}: {
  label: string;
  value: string;
  variables: readonly string[];
  insert?: RefObject<Insert | null>;
  onChange: (value: string) => void;
}) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const told = useRef({ onChange, variables });
  told.current = { onChange, variables };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the editor is made once and told of changes afterwards
  useEffect(() => {
    if (place.current === null) return undefined;
    const made = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: value,
        extensions: [
          lineNumbers(),
          history(),
          bracketMatching(),
          syntaxHighlighting(defaultHighlightStyle, { fallback: true }),
          keymap.of([...defaultKeymap, ...historyKeymap]),
          liquid({ base: html() }),
          autocompletion({
            override: [
              (context) => {
                const word = context.matchBefore(/\{\{\s*[\w.]*/);
                if (word === null) return null;
                const from = word.from + (/^\{\{\s*/.exec(word.text)?.[0].length ?? 0);
                return { from, options: told.current.variables.map((name) => ({ label: name, type: 'variable' })) };
              },
            ],
          }),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': label }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) told.current.onChange(update.state.doc.toString());
          }),
          look,
        ],
      }),
    });
    view.current = made;
    if (insert)
      insert.current = (text) => {
        made.dispatch(made.state.replaceSelection(text));
        made.focus();
      };
    return () => {
      if (insert) insert.current = null;
      made.destroy();
    };
  }, []);
  useEffect(() => {
    const editor = view.current;
    if (editor === null || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);
  return <div ref={place} />;
}
