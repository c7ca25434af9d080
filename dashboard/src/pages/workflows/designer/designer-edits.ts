import { sizeProblem } from '@fernpost/workflow-graph';
import { toast } from '../../../ui/toasts.tsx';
import { counted } from '../../../words/numbers.ts';
import { fieldSentence } from '../../../words/sentences.ts';
import type { CanvasEdits } from '../canvas/Canvas.tsx';
import { type Selection, selectedSteps, selectionOf } from '../canvas/selection.ts';
import { type Added, addStep, insertStep } from '../graph/add.ts';
import { copyText, pasteInto, pasteProblem, readCopy, withoutSteps } from '../graph/copies.ts';
import { connectProblem, type DraftStep, type Graph, withoutWay, withPlaces, withWay } from '../graph/draft.ts';
import { type Addable, addable } from '../graph/graph.ts';
import type { Editing } from './editing.ts';

/** The edits that the canvas and its tools make. */
export interface DesignerEdits extends CanvasEdits {
  add: (type: Addable, at: DraftStep['position'] | null) => void;
  removeWay: (id: string) => void;
}

/** The edits of a graph, which begin with what is selected and select what they make; `askForStep` asks how a step is to go. */
export function editsOf(
  editing: Editing,
  selection: Selection,
  select: (selection: Selection) => void,
  askForStep: () => void,
): DesignerEdits {
  const { graph, edit } = editing;
  const step = selection?.kind === 'step' ? graph.steps.find(({ id }) => id === selection.id) : undefined;
  const grow = ({ id, change }: Added) => {
    const { steps, transitions } = change(graph);
    const problem = sizeProblem(steps.length, transitions.length);
    if (problem !== null) return toast(`${problem}.`, 'warn');
    edit(change);
    select({ kind: 'step', id });
  };
  const add = (type: Addable, at: DraftStep['position'] | null) => grow(addStep(graph, type, at, step));
  const removeWay = (id: string) => {
    edit((before) => withoutWay(before, id));
    select(null);
  };
  return {
    add,
    removeWay,
    onMove: (moved) => edit((before) => withPlaces(before, new Map(moved.map(({ id, position }) => [id, position])))),
    onConnect: (from, key, to) => {
      const problem = connectProblem(graph, from, to);
      if (problem !== null) toast(`${problem}.`, 'warn');
      else edit((before) => withWay(before, from, key, to));
    },
    onInsert: (wayId, type) => grow(insertStep(graph, type, wayId)),
    onDelete: () => {
      if (step && step.type !== 'TRIGGER') askForStep();
      else if (selection?.kind === 'way') removeWay(selection.id);
      else if (selection?.kind === 'steps') removeSteps(editing, selection.ids, select, 'deleted');
    },
    onDrop: (type, position) => {
      const known = addable.find((each) => each.type === type);
      if (known) add(known.type, position);
    },
    onUndo: editing.undo,
    onRedo: editing.redo,
    ...copyingOf(editing, selection, select),
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

function copyingOf(
  editing: Editing,
  selection: Selection,
  select: (selection: Selection) => void,
): Pick<CanvasEdits, 'onCopy' | 'onCut' | 'onPaste' | 'onDuplicate' | 'onSelectAll'> {
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
    onSelectAll: () => select(selectionOf(graph.steps.map(({ id }) => id))),
  };
}
