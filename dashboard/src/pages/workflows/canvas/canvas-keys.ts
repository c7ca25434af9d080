import type { KeyboardEvent } from 'react';
import type { ShownWay } from './Canvas.tsx';
import type { ShownStep } from './StepNode.tsx';
import { type Selection, selectedSteps, selectionOf } from './selection.ts';

/** Handles the keys of the canvas. */
export interface KeyActions {
  select: (selection: Selection) => void;
  /** Gives a step the focus, and selects it unless something else is to be selected. */
  focusOn: (id: string, selection?: Selection) => void;
  move?: ((moved: { id: string; position: { x: number; y: number } }[]) => void) | undefined;
  remove?: (() => void) | undefined;
  undo?: (() => void) | undefined;
  redo?: (() => void) | undefined;
  duplicate?: (() => void) | undefined;
  selectAll?: (() => void) | undefined;
  /** Opens the search for a step. */
  search: () => void;
}

const arrows: Record<string, { x: number; y: number }> = {
  ArrowUp: { x: 0, y: -20 },
  ArrowDown: { x: 0, y: 20 },
  ArrowLeft: { x: -20, y: 0 },
  ArrowRight: { x: 20, y: 0 },
};

/** Does what a key on the canvas is for. Answers whether it was for something. */
export function pressKey(
  event: KeyboardEvent,
  graph: { steps: readonly ShownStep[]; ways: readonly ShownWay[]; selection: Selection },
  actions: KeyActions,
): boolean {
  const { key, altKey, shiftKey } = event;
  if (event.ctrlKey || event.metaKey) return pressCommand(key.toLowerCase(), shiftKey, actions);
  if (key === '/') {
    actions.search();
    return true;
  }
  if (key === 'Escape') {
    actions.select(null);
    return false;
  }
  if (key === 'Delete' || key === 'Backspace') {
    if (graph.selection === null) return false;
    actions.remove?.();
    return true;
  }
  const target = event.target as HTMLElement;
  const step = target.closest<HTMLElement>('.react-flow__node')?.dataset.id;
  const way = target.closest<HTMLElement>('.react-flow__edge')?.dataset.id;
  if (key === 'Enter' || key === ' ') {
    if (step) actions.select({ kind: 'step', id: step });
    else if (way) actions.select({ kind: 'way', id: way });
    return step !== undefined || way !== undefined;
  }
  if (step === undefined || !key.startsWith('Arrow')) return false;
  if (altKey && actions.move) {
    const by = arrows[key] ?? { x: 0, y: 0 };
    const selected = selectedSteps(graph.selection);
    const moving = selected.includes(step) ? selected : [step];
    const steps = graph.steps.map((shown) => shown.step).filter(({ id }) => moving.includes(id));
    actions.move(steps.map(({ id, position: { x, y } }) => ({ id, position: { x: x + by.x, y: y + by.y } })));
    return true;
  }
  const next = neighbor(key, step, graph.steps, graph.ways);
  if (next === undefined) return true;
  if (shiftKey && actions.move) actions.focusOn(next, withMore(graph.selection, step, next));
  else actions.focusOn(next);
  return true;
}

function withMore(selection: Selection, ...ids: string[]): Selection {
  return selectionOf([...new Set([...selectedSteps(selection), ...ids])]);
}

function pressCommand(
  key: string,
  withShift: boolean,
  { undo, redo, search, duplicate, selectAll }: KeyActions,
): boolean {
  if (key === 'z') (withShift ? redo : undo)?.();
  else if (key === 'y') redo?.();
  else if (key === 'f') search();
  else if (key === 'd' && duplicate) duplicate();
  else if (key === 'a' && selectAll) selectAll();
  else return false;
  return true;
}

/** The step that an arrow leads to: up and down along the paths, else the nearest on that side. */
function neighbor(
  key: string,
  from: string,
  steps: readonly ShownStep[],
  ways: readonly ShownWay[],
): string | undefined {
  const way =
    key === 'ArrowDown'
      ? ways.find(({ fromStepId }) => fromStepId === from)?.toStepId
      : key === 'ArrowUp'
        ? ways.find(({ toStepId }) => toStepId === from)?.fromStepId
        : undefined;
  if (way) return way;
  const here = steps.find(({ step }) => step.id === from)?.step.position;
  const towards = arrows[key];
  if (!here || !towards) return undefined;
  const distances = steps.flatMap(({ step: { id, position } }) => {
    const along = (position.x - here.x) * Math.sign(towards.x) + (position.y - here.y) * Math.sign(towards.y);
    return id === from || along <= 0 ? [] : [{ id, far: Math.hypot(position.x - here.x, position.y - here.y) }];
  });
  return distances.sort((one, other) => one.far - other.far)[0]?.id;
}
