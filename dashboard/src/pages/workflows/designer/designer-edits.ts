import { sizeProblem } from '@fernpost/workflow-graph';
import { toast } from '../../../ui/toasts.tsx';
import type { CanvasEdits } from '../canvas/Canvas.tsx';
import { type Selection, selectionOf } from '../canvas/selection.ts';
import { type Added, addStep, insertStep } from '../graph/add.ts';
import { connectProblem, type DraftStep, withoutWay, withPlaces, withWay } from '../graph/draft.ts';
import { type Addable, addable } from '../graph/graph.ts';
import type { Editing } from './editing.ts';

/** The edits that the canvas and its tools make. */
export interface DesignerEdits extends CanvasEdits {
  add: (type: Addable, at: DraftStep['position'] | null) => void;
  removeWay: (id: string) => void;
}

/**
 * The edits of a graph, which begin with what is selected and select what they make; `askForStep` asks how a step is to go. Steps can be copied
 * as soon as `copying` is loaded, which begins with the first movement or key. Where that key pastes, `pasteLater` keeps the text until then.
 */
export function editsOf(
  editing: Editing,
  selection: Selection,
  select: (selection: Selection) => void,
  askForStep: () => void,
  copying: typeof import('./copying.ts') | null,
  pasteLater: (text: string) => void,
): DesignerEdits {
  const { graph, edit } = editing;
  const copies = copying?.copiesOf(editing, selection, select);
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
      else if (selection?.kind === 'steps') copies?.onRemove();
    },
    onDrop: (type, position) => {
      const known = addable.find((each) => each.type === type);
      if (known) add(known.type, position);
    },
    onUndo: editing.undo,
    onRedo: editing.redo,
    onCopy: () => copies?.onCopy() ?? null,
    onCut: () => copies?.onCut() ?? null,
    onPaste: (text) => (copies ? copies.onPaste(text) : pasteLater(text)),
    onDuplicate: () => copies?.onDuplicate(),
    onSelectAll: () => select(selectionOf(graph.steps.map(({ id }) => id))),
  };
}
