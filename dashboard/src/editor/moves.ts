import type { Editor } from '@tiptap/core';

/** Whether a block as a whole is selected. Said without the editor's own class, which comes with the editor. */
function isBlock(selection: Editor['state']['selection']): boolean {
  return 'node' in selection;
}

/** The block of the document that the selection is in: where it begins, and which of its siblings it is. */
function outerBlock(editor: Editor): { pos: number; index: number } | null {
  const { $from } = editor.state.selection;
  const index = $from.index(0);
  if (index >= editor.state.doc.childCount) return null;
  return { pos: $from.posAtIndex(index, 0), index };
}

/** Moves the block of the selection past its neighbor. Answers whether there was one. */
export function moveBlock(editor: Editor, direction: -1 | 1): boolean {
  const found = outerBlock(editor);
  const { doc, selection, tr } = editor.state;
  if (found === null) return false;
  const other = found.index + direction;
  if (other < 0 || other >= doc.childCount) return false;
  const [block, neighbor] = [doc.child(found.index), doc.child(other)];
  const target = direction === -1 ? found.pos - neighbor.nodeSize : found.pos + neighbor.nodeSize;
  const offset = selection.from - found.pos;
  tr.delete(found.pos, found.pos + block.nodeSize).insert(target, block);
  editor.view.dispatch(tr);
  if (isBlock(selection)) editor.commands.setNodeSelection(target + offset);
  else editor.commands.setTextSelection(target + offset);
  editor.commands.scrollIntoView();
  return true;
}

/** Puts a copy of the selection's block below it. */
export function duplicateBlock(editor: Editor): void {
  const found = outerBlock(editor);
  if (found === null) return;
  const block = editor.state.doc.child(found.index);
  editor
    .chain()
    .focus()
    .insertContentAt(found.pos + block.nodeSize, block.toJSON())
    .run();
}

/** Deletes the selection's block. */
export function deleteBlock(editor: Editor): void {
  const found = outerBlock(editor);
  if (found === null) return;
  const { nodeSize } = editor.state.doc.child(found.index);
  const chain = editor
    .chain()
    .focus()
    .deleteRange({ from: found.pos, to: found.pos + nodeSize });
  chain.run();
}
