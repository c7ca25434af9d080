import { Extension } from '@tiptap/core';
import { duplicateBlock, moveBlock } from './moves.ts';

/** Alt with an arrow moves a block; Mod+D copies it. */
export const BlockKeys = Extension.create({
  name: 'blockKeys',
  addKeyboardShortcuts() {
    return {
      'Alt-ArrowUp': () => moveBlock(this.editor, -1),
      'Alt-ArrowDown': () => moveBlock(this.editor, 1),
      'Mod-Shift-d': () => {
        duplicateBlock(this.editor);
        return true;
      },
    };
  },
});
