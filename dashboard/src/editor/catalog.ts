import type { Editor, JSONContent } from '@tiptap/core';
import type { ResolvedPos } from '@tiptap/pm/model';
import {
  Blocks,
  Code2,
  Columns2,
  GitBranch,
  Heading1,
  Heading2,
  Heading3,
  Image,
  List,
  ListOrdered,
  type LucideIcon,
  Minus,
  MousePointerClick,
  Pilcrow,
  Repeat2,
  Share2,
  StretchVertical,
} from 'lucide-react';

/** Something that can be inserted at the cursor. */
export interface Insertable {
  name: string;
  /** Other words that people look for. */
  words: string;
  icon: LucideIcon;
  insert: (editor: Editor) => void;
}

const paragraph = (text = ''): JSONContent => ({
  type: 'paragraph',
  ...(text === '' ? {} : { content: [{ type: 'text', text }] }),
});
const columns: JSONContent = {
  type: 'columns',
  content: ['First column', 'Second column'].map((text) => ({ type: 'column', content: [paragraph(text)] })),
};

/** Moves the list item with the cursor out of its list, and of those around it. */
function leaveList(editor: Editor): void {
  while (editor.isActive('listItem') && editor.commands.liftListItem('listItem'));
}

/** Where a block goes for a cursor at this place: below the text, and below the whole list of a text in a list. */
export function placeBelow($at: ResolvedPos): number {
  if (!$at.parent.isTextblock) return $at.pos;
  const depths = Array.from({ length: $at.depth }, (_, index) => index + 1);
  const list = depths.find((depth) => $at.node(depth).type.name.endsWith('List'));
  return $at.after(list);
}

function isInEmptyText({ state: { selection } }: Editor): boolean {
  const { $from, empty } = selection;
  return empty && $from.parent.type.name === 'paragraph' && $from.parent.content.size === 0;
}

// A paragraph that is still empty, such as the one in which the slash was typed, makes room for the block.
const put = (content: JSONContent | JSONContent[]) => (editor: Editor) => {
  const isEmpty = isInEmptyText(editor);
  if (isEmpty) leaveList(editor);
  const { $from, $to } = editor.state.selection;
  const at = isEmpty ? { from: $from.before(), to: $from.after() } : placeBelow($to);
  const start = typeof at === 'number' ? at : at.from;
  const chain = editor.chain().focus().insertContentAt(at, content);
  if (Array.isArray(content)) {
    chain.run();
    return;
  }
  const isText = content.type === 'paragraph' || content.type === 'conditional' || content.type === 'repeat';
  if (isText || content.type === 'columns') chain.setTextSelection(start + (content.type === 'columns' ? 3 : 2)).run();
  else chain.setNodeSelection(start).run();
};

/** The blocks that can be inserted, in the order of the menus. */
export const insertables: readonly Insertable[] = [
  {
    name: 'Text',
    words: 'paragraph',
    icon: Pilcrow,
    insert: (editor) => {
      leaveList(editor);
      editor.chain().focus().setNode('paragraph').run();
    },
  },
  ...([1, 2, 3] as const).map((level) => ({
    name: `Heading ${level}`,
    words: `title h${level}`,
    icon: [Heading1, Heading2, Heading3][level - 1] ?? Heading1,
    insert: (editor: Editor) => {
      leaveList(editor);
      editor.chain().focus().setNode('heading', { level }).run();
    },
  })),
  { name: 'Bullet list', words: 'ul', icon: List, insert: (editor) => editor.chain().focus().toggleBulletList().run() },
  {
    name: 'Numbered list',
    words: 'ol',
    icon: ListOrdered,
    insert: (editor) => editor.chain().focus().toggleOrderedList().run(),
  },
  { name: 'Image', words: 'picture photo', icon: Image, insert: put({ type: 'image' }) },
  { name: 'Button', words: 'link call to action', icon: MousePointerClick, insert: put({ type: 'button' }) },
  { name: 'Columns', words: 'layout side by side', icon: Columns2, insert: put(columns) },
  { name: 'Divider', words: 'line rule', icon: Minus, insert: put({ type: 'divider' }) },
  { name: 'Spacer', words: 'gap space', icon: StretchVertical, insert: put({ type: 'spacer' }) },
  {
    name: 'Social links',
    words: 'x linkedin instagram',
    icon: Share2,
    insert: put({ type: 'social', attrs: { links: [{ network: 'Website', href: '' }] } }),
  },
  {
    name: 'Conditional block',
    words: 'if show',
    icon: GitBranch,
    insert: put({ type: 'conditional', content: [paragraph('Only some contacts see this.')] }),
  },
  {
    name: 'Repeated block',
    words: 'for each loop list',
    icon: Repeat2,
    insert: put({
      type: 'repeat',
      content: [{ type: 'paragraph', content: [{ type: 'variable', attrs: { name: 'item.name', fallback: '' } }] }],
    }),
  },
  { name: 'HTML', words: 'code source', icon: Code2, insert: put({ type: 'html' }) },
];

/** Blocks that the project has saved, as something to insert: a copy of them. */
export function savedInsertable({ name, content }: { name: string; content: JSONContent[] }): Insertable {
  return { name, words: 'saved block', icon: Blocks, insert: put(content) };
}

/** Puts a variable where the cursor is. */
export function insertVariable(editor: Editor, name: string): void {
  const content = [{ type: 'variable', attrs: { name, fallback: '' } }];
  editor.chain().focus().insertContent(content).run();
}
