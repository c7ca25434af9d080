import { useState } from 'react';
import type { MailContent } from './content.ts';

/** What an email can begin with. */
export type Layout = Pick<MailContent, 'document' | 'body' | 'subject'> & Partial<MailContent>;

type Written = Partial<MailContent>;
type Action = 'Undo layout' | 'Redo layout';

/**
 * Puts a layout in the place of what is written, which can be had back, as the layout can after that. `sender` is the address that
 * new messages begin with: a layout with one of its own replaces it.
 */
export function useLayout(content: MailContent, sender: string, onChange: (change: Written) => void) {
  const [generation, setGeneration] = useState(0);
  const [other, setOther] = useState<{ written: Written; action: Action } | null>(null);
  const put = (written: Written, action: Action) => {
    const replaced = (Object.keys(written) as (keyof MailContent)[]).map((key) => [key, content[key]]);
    setOther({ written: Object.fromEntries(replaced), action });
    setGeneration((before) => before + 1);
    onChange(written);
  };
  return {
    /** Another number with other content: the key of the editors, which keep a state of their own. */
    generation,
    choose: (layout: Layout) =>
      put({ document: layout.document, body: layout.body, ...filledIn(content, layout, sender) }, 'Undo layout'),
    /** The way back from the latest layout, or forth again; null before one was chosen. */
    back: other && {
      name: other.action,
      run: () => put(other.written, other.action === 'Undo layout' ? 'Redo layout' : 'Undo layout'),
    },
  };
}

/** Returns the fields that a layout fills and the message leaves empty. */
function filledIn(content: MailContent, layout: Layout, sender: string): Written {
  const empty = (['subject', 'from', 'fromName', 'replyTo'] as const).filter(
    (key) => content[key] === '' || (key === 'from' && content.from === sender),
  );
  return Object.fromEntries(empty.flatMap((key) => (layout[key] ? [[key, layout[key]]] : [])));
}
