import type { Editor } from '@tiptap/core';
import { NodeSelection } from '@tiptap/pm/state';
import { GripVertical } from 'lucide-react';
import { type DragEvent, useEffect, useState } from 'react';

/** A handle beside the block under the pointer: dragging it moves the block, pressing it selects it. */
export function DragHandle({ editor }: { editor: Editor }) {
  const [over, setOver] = useState<{ pos: number; top: number } | null>(null);
  useEffect(() => {
    const { view } = editor;
    const frame = view.dom.parentElement?.parentElement;
    if (!frame) return undefined;
    const follow = (event: MouseEvent) => {
      if (event.buttons !== 0) return;
      setOver((before) => blockAt(editor, event.clientY, frame) ?? before);
    };
    const leave = () => setOver(null);
    frame.addEventListener('mousemove', follow);
    frame.addEventListener('mouseleave', leave);
    editor.on('update', leave);
    return () => {
      frame.removeEventListener('mousemove', follow);
      frame.removeEventListener('mouseleave', leave);
      editor.off('update', leave);
    };
  }, [editor]);
  if (over === null) return null;
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

function blockAt({ view }: Editor, y: number, frame: HTMLElement): { pos: number; top: number } | null {
  let found: { pos: number; top: number } | null = null;
  view.state.doc.forEach((_, pos) => {
    const dom = view.nodeDOM(pos);
    if (!(dom instanceof HTMLElement)) return;
    const { top, bottom } = dom.getBoundingClientRect();
    if (y >= top - 4 && y <= bottom + 8) found = { pos, top: top - frame.getBoundingClientRect().top };
  });
  return found;
}
