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
  Link2,
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
import { type Insertable, insertables, insertVariable } from './catalog.ts';
import type { Act } from './content.ts';
import { deleteBlock, duplicateBlock, moveBlock } from './moves.ts';

/** Everything that can be done with the text and its blocks. Without an editor yet, nothing is on and all can be pressed. */
export function EditorToolbar({
  editor,
  act,
  variables,
  saved,
  onLink,
  onSave,
}: {
  editor: Editor | null;
  act: Act;
  variables: readonly string[];
  saved: readonly Insertable[];
  onLink: () => void;
  onSave: () => void;
}) {
  const align = (value: string) => () =>
    act((ready) =>
      ready
        .chain()
        .focus()
        .updateAttributes('paragraph', { align: value })
        .updateAttributes('heading', { align: value })
        .run(),
    );
  const isOn = (what: string | { align: string }) => editor?.isActive(what as string) ?? false;
  return (
    <div className="bar" role="toolbar" aria-label="Format">
      <InsertMenus act={act} variables={variables} saved={saved} />
      <Marks editor={editor} act={act} />
      <Tool name="Link" icon={Link2} isOn={isOn('link')} press={onLink} />
      <Tool
        name="Bullet list"
        icon={List}
        isOn={isOn('bulletList')}
        press={() => act((ready) => ready.chain().focus().toggleBulletList().run())}
      />
      <Tool
        name="Numbered list"
        icon={ListOrdered}
        isOn={isOn('orderedList')}
        press={() => act((ready) => ready.chain().focus().toggleOrderedList().run())}
      />
      <Tool name="Align left" icon={AlignLeft} press={align('left')} />
      <Tool name="Align center" icon={AlignCenter} isOn={isOn({ align: 'center' })} press={align('center')} />
      <Tool name="Align right" icon={AlignRight} isOn={isOn({ align: 'right' })} press={align('right')} />
      <Tool name="Move block up" icon={ArrowUp} press={() => act((ready) => moveBlock(ready, -1))} />
      <Tool name="Move block down" icon={ArrowDown} press={() => act((ready) => moveBlock(ready, 1))} />
      <Tool name="Duplicate block" icon={Copy} press={() => act(duplicateBlock)} />
      <Tool name="Save as block" icon={BookmarkPlus} press={onSave} />
      <Tool name="Delete block" icon={Trash2} press={() => act(deleteBlock)} />
      <Tool
        name="Undo"
        icon={Undo2}
        isInert={!editor?.can().undo()}
        press={() => act((ready) => ready.chain().focus().undo().run())}
      />
      <Tool
        name="Redo"
        icon={Redo2}
        isInert={!editor?.can().redo()}
        press={() => act((ready) => ready.chain().focus().redo().run())}
      />
    </div>
  );
}

function InsertMenus({
  act,
  variables,
  saved,
}: {
  act: Act;
  variables: readonly string[];
  saved: readonly Insertable[];
}) {
  return (
    <>
      <Menu
        trigger={
          <Button size="small">
            <Plus aria-hidden /> Block
          </Button>
        }
      >
        {[...insertables, ...saved].map(({ name, words, icon: Icon, insert }) => (
          <MenuItem key={`${words} ${name}`} onSelect={() => afterMenu(() => act(insert))}>
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
          <MenuItem key={name} onSelect={() => afterMenu(() => act((ready) => insertVariable(ready, name)))}>
            {name}
          </MenuItem>
        ))}
      </Menu>
    </>
  );
}

// A menu that closes gives the focus back to its button, after which the editor may have it.
function afterMenu(work: () => void): void {
  setTimeout(work, 50);
}

const marks = [
  ['Bold', 'bold', Bold],
  ['Italic', 'italic', Italic],
  ['Underline', 'underline', Underline],
  ['Strikethrough', 'strike', Strikethrough],
] as const;

/** The marks of selected text. */
export function Marks({ editor, act }: { editor: Editor | null; act: Act }) {
  return marks.map(([name, mark, icon]) => (
    <Tool
      key={name}
      name={name}
      icon={icon}
      isOn={editor?.isActive(mark) ?? false}
      press={() => act((ready) => ready.chain().focus().toggleMark(mark).run())}
    />
  ));
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
      variant={isOn ? 'primary' : 'plain'}
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
