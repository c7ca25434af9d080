import { Extension } from '@tiptap/core';
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
});
