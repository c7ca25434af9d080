import { BoxSelect, ClipboardPaste, Copy, CopyPlus, Scissors } from 'lucide-react';
import { MenuItem, MenuSeparator } from '../../../ui/Menu.tsx';
import type { CanvasEdits } from '../canvas/Canvas.tsx';
import { readClipboard, writeClipboard } from '../canvas/clipboard.ts';
import { type Selection, selectedSteps } from '../canvas/selection.ts';

/** Offers the copy keys as a menu. */
export function EditMenu({ edits, selection }: { edits: CanvasEdits; selection: Selection }) {
  const hasSteps = selectedSteps(selection).length > 0;
  const take = (text: string | null) => {
    if (text !== null) void writeClipboard(text);
  };
  return (
    <>
      {hasSteps ? (
        <>
          <MenuItem onSelect={() => take(edits.onCopy())}>
            <Copy aria-hidden /> Copy
          </MenuItem>
          <MenuItem onSelect={() => take(edits.onCut())}>
            <Scissors aria-hidden /> Cut
          </MenuItem>
          <MenuItem onSelect={edits.onDuplicate}>
            <CopyPlus aria-hidden /> Duplicate
          </MenuItem>
        </>
      ) : null}
      <MenuItem onSelect={() => void readClipboard().then((text) => edits.onPaste(text ?? ''))}>
        <ClipboardPaste aria-hidden /> Paste
      </MenuItem>
      <MenuSeparator />
      <MenuItem onSelect={edits.onSelectAll}>
        <BoxSelect aria-hidden /> Select all steps
      </MenuItem>
    </>
  );
}
