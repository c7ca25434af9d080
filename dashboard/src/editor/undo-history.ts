import type { Editor } from '@tiptap/core';
import { closeHistory, undoDepth, undoNoScroll } from '@tiptap/pm/history';
import { Node } from '@tiptap/pm/model';
import { TextSelection, type Transaction } from '@tiptap/pm/state';

/** Where the browser keeps the states of the email that was edited last, until the tab is closed. */
const place = 'fernpost.undo';
/** How many states are kept, and how much text they may have together. */
const most = { states: 50, characters: 1_000_000 };

/**
 * Makes what can be undone survive a reload: the states of the email are written down when the page is left, and become steps of the
 * history again when the same email is opened. If it was left without saving, what was not saved is there to be redone.
 * @param nameOf answers the name of the email, which a new one gets with its first save
 * @returns what ends it, with the states written down
 */
export function keepUndo(editor: Editor, nameOf: () => string): () => void {
  let states = restored(editor, nameOf());
  let depth = undoDepth(editor.state);
  // Typing goes on in the latest state until the editor begins a new step; undoing goes back to an earlier one.
  const follow = () => {
    const now = undoDepth(editor.state);
    const earlier = now > depth ? states : states.slice(0, Math.max(0, states.length - 1 - (depth - now)));
    states = [...earlier, editor.state.doc].slice(-most.states);
    depth = now;
  };
  const write = () => keep(nameOf(), states);
  editor.on('update', follow);
  window.addEventListener('pagehide', write);
  return () => {
    write();
    editor.off('update', follow);
    window.removeEventListener('pagehide', write);
  };
}

function keep(email: string, states: readonly Node[]): void {
  const texts: string[] = [];
  let room = most.characters;
  for (const state of states.toReversed()) {
    const text = JSON.stringify(state.toJSON());
    room -= text.length;
    if (room < 0) break;
    texts.unshift(text);
  }
  try {
    sessionStorage.setItem(place, JSON.stringify({ email, states: texts }));
  } catch {
    // A browser that keeps nothing.
  }
}

/** The states that were kept of an email; none of another one, or of what the editor cannot read. */
function kept(editor: Editor, email: string): Node[] {
  try {
    const found = JSON.parse(sessionStorage.getItem(place) ?? '{}') as { email?: string; states?: string[] };
    if (found.email !== email) return [];
    return (found.states ?? []).map((text) => {
      const state = Node.fromJSON(editor.schema, JSON.parse(text));
      state.check();
      return state;
    });
  } catch {
    return [];
  }
}

/** Does the kept states again, one step each, and undoes those after what the editor has. Answers the states up to that. */
function restored(editor: Editor, email: string): Node[] {
  const { doc } = editor.state;
  const states = kept(editor, email);
  const at = states.findLastIndex((state) => state.eq(doc));
  if (at === -1 || states.length === 1) return [doc];
  // The content ends as it began: the page need not hear of it.
  const dispatch = (change: Transaction) => editor.view.dispatch(change.setMeta('preventUpdate', true));
  const become = (state: Node) => editor.state.tr.replaceWith(0, editor.state.doc.content.size, state.content);
  const [first, ...later] = states;
  if (first) dispatch(become(first).setMeta('addToHistory', false));
  for (const state of later) {
    // The cursor is where the change is, so that undoing it leads there.
    const { doc: before, tr } = editor.state;
    const change = before.content.findDiffStart(state.content) ?? 0;
    dispatch(tr.setSelection(TextSelection.near(before.resolve(change))));
    dispatch(closeHistory(become(state)));
  }
  for (let step = states.length - 1; step > at; step -= 1) undoNoScroll(editor.state, dispatch);
  dispatch(editor.state.tr.setSelection(TextSelection.atStart(editor.state.doc)));
  return states.slice(0, at + 1);
}
