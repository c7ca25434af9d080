import { MarkerType } from '@xyflow/react';
import { stepSize, wayKey, waysOut } from '../graph/graph.ts';
import type { CanvasEdits, ShownWay } from './Canvas.tsx';
import type { PathEdgeType } from './PathEdge.tsx';
import { type ShownStep, type StepNodeType, spoken } from './StepNode.tsx';
import { type Selection, selectedSteps } from './selection.ts';

/** The steps that were dragged to another place. */
export function movedOf(dragged: readonly StepNodeType[], steps: readonly ShownStep[]) {
  const moved = dragged.filter(({ id, position }) => {
    const before = steps.find(({ step }) => step.id === id)?.step.position;
    return before && (before.x !== position.x || before.y !== position.y);
  });
  return moved.map(({ id, position }) => ({ id, position }));
}

/** The steps as nodes of the canvas; what the canvas has measured of them `before` is kept. */
export function nodesOf(
  before: readonly StepNodeType[],
  steps: readonly ShownStep[],
  ways: readonly ShownWay[],
  selection: Selection,
  isEditable: boolean,
): StepNodeType[] {
  const selected = new Set(selectedSteps(selection));
  return steps.map((shown) => {
    const { step } = shown;
    const handles = waysOut(step);
    // Paths that the config no longer knows still need a place to leave from.
    for (const way of ways)
      if (way.fromStepId === step.id && !handles.some(({ key }) => key === wayKey(way)))
        handles.push({ ...way, key: wayKey(way), label: way.label });
    return {
      ...before.find(({ id }) => id === step.id),
      id: step.id,
      type: 'step' as const,
      position: step.position,
      width: stepSize.width,
      data: { shown, handles, isEditable },
      selected: selected.has(step.id),
      ariaLabel: spoken(shown),
    };
  });
}

/** The paths as edges of the canvas. */
export function edgesOf(
  steps: readonly ShownStep[],
  ways: readonly ShownWay[],
  selection: Selection,
  onSelect: (selection: Selection) => void,
  onInsert: CanvasEdits['onInsert'] | undefined,
): PathEdgeType[] {
  const names = new Map(steps.map(({ step }) => [step.id, step.name]));
  const places = steps.map(({ step }) => step.position);
  return ways.map((way) => {
    const between = [names.get(way.fromStepId) ?? '', names.get(way.toStepId) ?? ''] as const;
    return {
      id: way.id,
      type: 'path' as const,
      source: way.fromStepId,
      target: way.toStepId,
      sourceHandle: wayKey(way),
      data: {
        steps: places,
        between,
        label: way.label,
        figures: way.figures ?? null,
        at: labelAt(way, steps, ways),
        onPress: onInsert && (() => onSelect({ kind: 'way', id: way.id })),
        onInsert: onInsert && ((type) => onInsert(way.id, type)),
      },
      selected: selection?.kind === 'way' && selection.id === way.id,
      focusable: onInsert !== undefined,
      markerEnd: {
        type: MarkerType.ArrowClosed,
        width: 16,
        height: 16,
        markerUnits: 'userSpaceOnUse',
        color: way.taken ? 'var(--accent)' : 'var(--line-strong)',
      },
      className: way.taken === undefined ? '' : way.taken ? 'taken' : 'not-taken',
      ariaLabel: `Path from ${between[0]} to ${between[1]}${way.label ? `: ${way.label}` : ''}${way.figures ? `. ${way.figures.words}` : ''}`,
    };
  });
}

/** Where the label of a path stands on it: those of paths side by side are not at one height, so that none lies on another. */
function labelAt(way: ShownWay, steps: readonly ShownStep[], ways: readonly ShownWay[]): number {
  const siblings = ways.filter(({ fromStepId }) => fromStepId === way.fromStepId);
  if (siblings.length === 1) return 0.5;
  const from = steps.find(({ step }) => step.id === way.fromStepId)?.step;
  const keys = from ? waysOut(from).map(({ key }) => key) : [];
  return keys.indexOf(wayKey(way)) % 2 === 0 ? 0.7 : 0.35;
}
