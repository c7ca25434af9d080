import type { Editor } from '@tiptap/core';
import { Link2 } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../ui/Button.tsx';
import { inputClass } from '../ui/Field.tsx';
import { Marks } from './Toolbar.tsx';

/** A small toolbar at the selected text: its marks, and the link that it leads to. A link that is asked for needs no selected text. */
export function Bubble({
  editor,
  isLinking,
  onLinking,
}: {
  editor: Editor;
  /** Whether the address of a link is being asked for. */
  isLinking: boolean;
  onLinking: (isLinking: boolean) => void;
}) {
  if (editor.isDestroyed) return null;
  const { from, to, empty } = editor.state.selection;
  const isText = !empty && editor.state.doc.textBetween(from, to).trim() !== '';
  if (!(isLinking || (isText && editor.isFocused))) return null;
  const { top, left } = editor.view.coordsAtPos(from);
  const place = { top: Math.max(8, top - 48), left: Math.max(8, Math.min(left, window.innerWidth - 320)) };
  return (
    <div className="email-bubble" role="toolbar" aria-label="Selected text" style={place}>
      {isLinking ? (
        <LinkField editor={editor} onClose={() => onLinking(false)} />
      ) : (
        <>
          <Marks editor={editor} act={(work) => work(editor)} />
          <Button
            size="small"
            variant="plain"
            aria-label="Link"
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => onLinking(true)}
          >
            <Link2 aria-hidden />
          </Button>
        </>
      )}
    </div>
  );
}

/** The address of the link at the selection; an empty one takes the link away. */
function LinkField({ editor, onClose }: { editor: Editor; onClose: () => void }) {
  const [href, setHref] = useState(() => String(editor.getAttributes('link').href ?? ''));
  const save = () => {
    const address = href.trim();
    // At once, and not with the next picture as the editor's own command does: what is typed next is meant for the text.
    editor.view.focus();
    const chain = editor.chain();
    if (editor.state.selection.empty && !editor.isActive('link')) {
      const marks = [{ type: 'link', attrs: { href: address } }];
      if (address !== '') chain.insertContent({ type: 'text', text: address, marks });
    } else if (address === '') chain.extendMarkRange('link').unsetLink();
    else chain.extendMarkRange('link').setLink({ href: address });
    chain.run();
    onClose();
  };
  return (
    <>
      <input
        className={inputClass}
        aria-label="Link address"
        placeholder="https://"
        // biome-ignore lint/a11y/noAutofocus: it was asked for, by a button or a key
        autoFocus
        value={href}
        onChange={(event) => setHref(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') {
            // The key is not to reach the text, which has the focus by then.
            event.preventDefault();
            save();
          }
          if (event.key === 'Escape') {
            editor.view.focus();
            onClose();
          }
        }}
        onBlur={({ currentTarget, relatedTarget }) => {
          // Another window, from which an address is copied, takes the focus as well.
          if (document.hasFocus() && !currentTarget.parentElement?.contains(relatedTarget)) onClose();
        }}
      />
      <Button size="small" onMouseDown={(event) => event.preventDefault()} onClick={save}>
        Apply
      </Button>
    </>
  );
}
