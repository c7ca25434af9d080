import type { Editor } from '@tiptap/core';
import {
  AlignCenter,
  AlignLeft,
  AlignRight,
  ArrowDown,
  ArrowUp,
  Bold,
  BookmarkPlus,
  Braces,
  Copy,
  Italic,
  List,
  ListOrdered,
  type LucideIcon,
  Plus,
  Redo2,
  Strikethrough,
  Trash2,
  Underline,
  Undo2,
} from 'lucide-react';
import { Button } from '../ui/Button.tsx';
import { Menu, MenuItem } from '../ui/Menu.tsx';
import { type Insertable, insertables } from './catalog.ts';
import { deleteBlock, duplicateBlock, moveBlock } from './moves.ts';
import { insertVariable } from './suggest.ts';

/** Everything that can be done with the text and its blocks. */
export function EditorToolbar({
  editor,
  variables,
  saved,
  onSave,
}: {
  editor: Editor;
  variables: readonly string[];
  saved: readonly Insertable[];
  onSave: () => void;
}) {
  const align = (value: string) => () =>
    editor
      .chain()
      .focus()
      .updateAttributes('paragraph', { align: value })
      .updateAttributes('heading', { align: value })
      .run();
  return (
    <div className="bar" role="toolbar" aria-label="Format">
      <Menu
        trigger={
          <Button size="small">
            <Plus aria-hidden /> Block
          </Button>
        }
      >
        {[...insertables, ...saved].map(({ name, words, icon: Icon, insert }) => (
          <MenuItem key={`${words} ${name}`} onSelect={() => afterMenu(() => insert(editor))}>
            <Icon aria-hidden /> {name}
          </MenuItem>
        ))}
      </Menu>
      <Menu
        trigger={
          <Button size="small">
            <Braces aria-hidden /> Variable
          </Button>
        }
      >
        {variables.map((name) => (
          <MenuItem key={name} onSelect={() => afterMenu(() => insertVariable(editor, name))}>
            {name}
          </MenuItem>
        ))}
      </Menu>
      <Marks editor={editor} />
      <Tool
        name="Bullet list"
        icon={List}
        isOn={editor.isActive('bulletList')}
        press={() => editor.chain().focus().toggleBulletList().run()}
      />
      <Tool
        name="Numbered list"
        icon={ListOrdered}
        isOn={editor.isActive('orderedList')}
        press={() => editor.chain().focus().toggleOrderedList().run()}
      />
      <Tool name="Align left" icon={AlignLeft} press={align('left')} />
      <Tool
        name="Align center"
        icon={AlignCenter}
        isOn={editor.isActive({ align: 'center' })}
        press={align('center')}
      />
      <Tool name="Align right" icon={AlignRight} isOn={editor.isActive({ align: 'right' })} press={align('right')} />
      <Tool name="Move block up" icon={ArrowUp} press={() => moveBlock(editor, -1)} />
      <Tool name="Move block down" icon={ArrowDown} press={() => moveBlock(editor, 1)} />
      <Tool name="Duplicate block" icon={Copy} press={() => duplicateBlock(editor)} />
      <Tool name="Save as block" icon={BookmarkPlus} press={onSave} />
      <Tool name="Delete block" icon={Trash2} press={() => deleteBlock(editor)} />
      <Tool name="Undo" icon={Undo2} isInert={!editor.can().undo()} press={() => editor.chain().focus().undo().run()} />
      <Tool name="Redo" icon={Redo2} isInert={!editor.can().redo()} press={() => editor.chain().focus().redo().run()} />
    </div>
  );
}

// A menu that closes gives the focus back to its button, after which the editor may have it.
function afterMenu(work: () => void): void {
  setTimeout(work, 50);
}

/** The marks of selected text. */
export function Marks({ editor }: { editor: Editor }) {
  return (
    <>
      <Tool
        name="Bold"
        icon={Bold}
        isOn={editor.isActive('bold')}
        press={() => editor.chain().focus().toggleBold().run()}
      />
      <Tool
        name="Italic"
        icon={Italic}
        isOn={editor.isActive('italic')}
        press={() => editor.chain().focus().toggleItalic().run()}
      />
      <Tool
        name="Underline"
        icon={Underline}
        isOn={editor.isActive('underline')}
        press={() => editor.chain().focus().toggleUnderline().run()}
      />
      <Tool
        name="Strikethrough"
        icon={Strikethrough}
        isOn={editor.isActive('strike')}
        press={() => editor.chain().focus().toggleStrike().run()}
      />
    </>
  );
}

function Tool({
  name,
  icon: Icon,
  isOn,
  isInert = false,
  press,
}: {
  name: string;
  icon: LucideIcon;
  isOn?: boolean;
  isInert?: boolean;
  press: () => void;
}) {
  return (
    <Button
      size="small"
      look={isOn ? 'primary' : 'plain'}
      aria-label={name}
      title={name}
      disabled={isInert}
      {...(isOn === undefined ? {} : { 'aria-pressed': isOn })}
      // The text keeps its selection and the focus.
      onMouseDown={(event) => event.preventDefault()}
      onClick={press}
    >
      <Icon aria-hidden />
    </Button>
  );
}
