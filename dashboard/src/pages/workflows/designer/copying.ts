import { toast } from '../../../ui/toasts.tsx';
import { counted } from '../../../words/numbers.ts';
import { fieldSentence } from '../../../words/sentences.ts';
import type { CanvasEdits } from '../canvas/Canvas.tsx';
import { type Selection, selectedSteps, selectionOf } from '../canvas/selection.ts';
import { copyText, pasteInto, pasteProblem, readCopy, withoutSteps } from '../graph/copies.ts';
import type { Graph } from '../graph/draft.ts';
import type { Editing } from './editing.ts';

/** Copying, pasting and removing the selected steps. */
export function copiesOf(
  editing: Editing,
  selection: Selection,
  select: (selection: Selection) => void,
): Pick<CanvasEdits, 'onCopy' | 'onCut' | 'onPaste' | 'onDuplicate'> & { onRemove: () => void } {
  const { graph, edit } = editing;
  const ids = selectedSteps(selection);
  const paste = (copied: Graph) => {
    const problem = pasteProblem(graph, copied);
    if (problem !== null) return toast(fieldSentence({ field: '', message: problem }), 'warn');
    const { ids: added, change } = pasteInto(graph, copied);
    edit(change);
    select(selectionOf(added));
  };
  const take = () => {
    const text = copyText(graph, ids);
    if (text === null && ids.length > 0) toast('The trigger can’t be copied.', 'warn');
    return text;
  };
  return {
    onRemove: () => removeSteps(editing, ids, select, 'deleted'),
    onCopy: () => {
      const text = take();
      if (text !== null) toast(`${counted(readCopy(text)?.steps.length ?? 0, 'step')} copied`);
      return text;
    },
    onCut: () => {
      const text = take();
      if (text !== null) removeSteps(editing, ids, select, 'cut');
      return text;
    },
    onPaste: (text) => {
      const copied = readCopy(text);
      if (copied === null) toast('The clipboard has no workflow steps.', 'warn');
      else paste(copied);
    },
    onDuplicate: () => {
      const text = take();
      const copied = text === null ? null : readCopy(text);
      if (copied !== null) paste(copied);
    },
  };
}

function removeSteps(
  { graph, edit }: Editing,
  ids: readonly string[],
  select: (selection: Selection) => void,
  done: string,
): void {
  const gone = graph.steps.filter(({ id, type }) => ids.includes(id) && type !== 'TRIGGER');
  if (gone.length === 0) return;
  edit((before) => withoutSteps(before, ids));
  select(null);
  toast(`${counted(gone.length, 'step')} ${done}`);
}
