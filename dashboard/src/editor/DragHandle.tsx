import type { Editor } from '@tiptap/core';
import { NodeSelection } from '@tiptap/pm/state';
import { GripVertical } from 'lucide-react';
import type { DragEvent, MouseEvent } from 'react';

/** A block under the pointer: where it begins in the document, and on the page. */
export interface Hovered {
  pos: number;
  top: number;
}

/** The handle beside the block under the pointer: dragging it moves the block, pressing it selects it. */
export function DragHandle({ editor, over }: { editor: Editor; over: Hovered }) {
  const select = () => editor.chain().focus().setNodeSelection(over.pos).run();
  const drag = (event: DragEvent) => {
    const { view } = editor;
    const selection = NodeSelection.create(view.state.doc, over.pos);
    view.dispatch(view.state.tr.setSelection(selection));
    view.dragging = { slice: selection.content(), move: true };
    const dom = view.nodeDOM(over.pos);
    event.dataTransfer.effectAllowed = 'move';
    event.dataTransfer.setData('text/plain', ' ');
    if (dom instanceof HTMLElement) event.dataTransfer.setDragImage(dom, 0, 0);
  };
  return (
    <button
      type="button"
      className="handle"
      style={{ top: over.top }}
      draggable
      aria-label="Drag to move this block"
      title="Drag to move, or use Alt with the up and down arrows"
      onClick={select}
      onDragStart={drag}
    >
      <GripVertical aria-hidden size={16} />
    </button>
  );
}

/** The block at the height of the pointer, or null between blocks and while a button is pressed. */
export function hoveredBlock(editor: Editor, event: MouseEvent<HTMLElement>): Hovered | null {
  // Without a view there is nothing to point at.
  if (editor.isDestroyed || event.buttons !== 0) return null;
  const { view } = editor;
  const frame = event.currentTarget.getBoundingClientRect();
  let found: Hovered | null = null;
  view.state.doc.forEach((_, pos) => {
    const dom = view.nodeDOM(pos);
    if (!(dom instanceof HTMLElement)) return;
    const { top, bottom } = dom.getBoundingClientRect();
    if (event.clientY >= top - 4 && event.clientY <= bottom + 8) found = { pos, top: top - frame.top };
  });
  return found;
}
