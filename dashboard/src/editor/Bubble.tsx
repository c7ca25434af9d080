import type { Editor } from '@tiptap/core';
import { Link2 } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../ui/Button.tsx';
import { inputClass } from '../ui/Field.tsx';
import { Marks } from './Toolbar.tsx';

/** A small toolbar at the selected text: its marks, and the link that it leads to. */
export function Bubble({ editor }: { editor: Editor }) {
  const [href, setHref] = useState<string | null>(null);
  const { selection } = editor.state;
  const { from, to } = selection;
  const isText = !selection.empty && editor.state.doc.textBetween(from, to).trim() !== '';
  if (editor.isDestroyed || !(isText && (editor.isFocused || href !== null))) return null;
  const { top, left } = editor.view.coordsAtPos(from);
  const place = { top: Math.max(8, top - 48), left: Math.min(left, window.innerWidth - 320) };
  const save = () => {
    const chain = editor.chain().focus().extendMarkRange('link');
    if (href?.trim()) chain.setLink({ href: href.trim() }).run();
    else chain.unsetLink().run();
    setHref(null);
  };
  return (
    <div className="email-bubble" role="toolbar" aria-label="Selected text" style={place}>
      {href === null ? (
        <>
          <Marks editor={editor} act={(work) => work(editor)} />
          <Button
            size="small"
            variant="plain"
            aria-label="Link"
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => setHref(String(editor.getAttributes('link').href ?? ''))}
          >
            <Link2 aria-hidden />
          </Button>
        </>
      ) : (
        <>
          <input
            className={inputClass}
            aria-label="Link address"
            placeholder="https://"
            // biome-ignore lint/a11y/noAutofocus: it was asked for by the button that it replaces
            autoFocus
            value={href}
            onChange={(event) => setHref(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter') save();
              if (event.key === 'Escape') {
                setHref(null);
                editor.commands.focus();
              }
            }}
          />
          <Button size="small" onClick={save}>
            Apply
          </Button>
        </>
      )}
    </div>
  );
}
