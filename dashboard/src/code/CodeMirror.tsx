import { autocompletion } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { html } from '@codemirror/lang-html';
import { liquid } from '@codemirror/lang-liquid';
import { bracketMatching, defaultHighlightStyle, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { type RefObject, useLayoutEffect, useRef } from 'react';
import { type Early, type Successor, takeOver } from '../standby/early.ts';
import type { Insert } from './CodeEditor.tsx';

const theme = EditorView.theme({
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

// The colours of CodeMirror's own style are made for white paper alone: each is replaced by one that reads on light and dark.
const readable: Record<string, string> = {
  '#404740': 'light-dark(#404740, #b9ae9f)',
  '#708': 'light-dark(#770088, #e0a3f0)',
  '#219': 'light-dark(#221199, #a9b4ff)',
  '#164': 'light-dark(#116644, #79d3a0)',
  '#a11': 'light-dark(#a3211b, #ff9c92)',
  '#e40': 'light-dark(#a83200, #ffae7a)',
  '#00f': 'light-dark(#0000e0, #9db8ff)',
  '#30a': 'light-dark(#3300aa, #c0a8ff)',
  '#085': 'light-dark(#00703f, #79d3a0)',
  '#167': 'light-dark(#116677, #86cfe0)',
  '#256': 'light-dark(#225566, #9ac8d8)',
  '#00c': 'light-dark(#0000c0, #9db8ff)',
  '#940': 'light-dark(#8a3f00, #e5b184)',
  '#f00': 'light-dark(#b00000, #ff9c92)',
};
const colours = HighlightStyle.define(
  defaultHighlightStyle.specs.map(({ color, ...spec }) =>
    color ? { ...spec, color: readable[color] ?? 'var(--text)' } : spec,
  ),
);

/** The part of the editor of HTML that is loaded for writing. It begins with what was typed in its picture. */
export function CodeMirror({
  label,
  value,
  variables,
  early,
  insert,
  onChange,
}: {
  label: string;
  value: string;
  variables: readonly string[];
  early: Early;
  insert: RefObject<Insert | null>;
  onChange: (value: string) => void;
}) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const result = useRef({ onChange, variables });
  result.current = { onChange, variables };
  // Before the editor is made, which may begin with another text than the page has: with what was typed in its picture.
  useLayoutEffect(() => {
    const editor = view.current;
    if (editor === null || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);
  // At once, so that no key falls between the picture and the editor.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the editor is created once and updated afterwards
  useLayoutEffect(() => {
    if (place.current === null) return undefined;
    const made = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: value,
        extensions: [
          lineNumbers(),
          history(),
          bracketMatching(),
          syntaxHighlighting(colours),
          keymap.of([...defaultKeymap, ...historyKeymap]),
          // Closing tags would be written twice by people who type them: `</b>` became `</b>b>` and left `</p>` behind.
          liquid({ base: html({ autoCloseTags: false }) }),
          autocompletion({
            override: [
              (context) => {
                const word = context.matchBefore(/\{\{\s*[\w.]*/);
                if (word === null) return null;
                const from = word.from + (/^\{\{\s*/.exec(word.text)?.[0].length ?? 0);
                return { from, options: result.current.variables.map((name) => ({ label: name, type: 'variable' })) };
              },
            ],
          }),
          EditorView.lineWrapping,
          // Scrollable content is reachable by keyboard, also for tools that look for a tab stop.
          EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) result.current.onChange(update.state.doc.toString());
          }),
          theme,
        ],
      }),
    });
    view.current = made;
    takeOver(successorIn(made), early);
    insert.current = (text) => {
      made.dispatch(made.state.replaceSelection(text));
      made.focus();
    };
    return () => {
      insert.current = null;
      made.destroy();
    };
  }, []);
  return <div ref={place} />;
}

function successorIn(view: EditorView): Successor {
  const insert = (text: string) => view.dispatch(view.state.replaceSelection(text), { userEvent: 'input.type' });
  return {
    dom: view.contentDOM,
    focus: () => view.focus(),
    select: (anchor, head) => {
      const place = (position: number) => Math.min(position, view.state.doc.length);
      view.dispatch({ selection: { anchor: place(anchor), head: place(head) } });
    },
    insert,
    paste: ({ text }) => insert(text),
    // Its keymap has every key that deletes.
    erase: () => undefined,
  };
}
