import { Extension } from '@tiptap/core';
import { Plugin } from '@tiptap/pm/state';
import { duplicateBlock, moveBlock } from './moves.ts';

/** Alt with an arrow moves a block, Mod+Shift+D copies it, and Mod+K asks for the address of a link. */
export const BlockKeys = Extension.create<{ onLink: () => void }>({
  name: 'blockKeys',
  addOptions: () => ({ onLink: () => undefined }),
  addKeyboardShortcuts() {
    return {
      'Alt-ArrowUp': () => moveBlock(this.editor, -1),
      'Alt-ArrowDown': () => moveBlock(this.editor, 1),
      'Mod-Shift-d': () => {
        duplicateBlock(this.editor);
        return true;
      },
      'Mod-k': () => {
        this.options.onLink();
        return true;
      },
    };
  },
  addProseMirrorPlugins() {
    // A browser tells of a moved cursor with its next picture. A key that comes sooner, such as Mod+K right after
    // Shift+Home, would act on the text that was selected before.
    const keydown = (_view: unknown, event: KeyboardEvent) => {
      if (!event.isComposing) document.dispatchEvent(new Event('selectionchange'));
      return false;
    };
    return [new Plugin({ props: { handleDOMEvents: { keydown } } })];
  },
});
