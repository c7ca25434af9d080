import { sameJson } from '@fernpost/workflow-graph';
import { MarkerType, type NodeChange, Position } from '@xyflow/react';
import { byStep, stepSize, type WayOut, wayKey, waysOut } from '../graph/graph.ts';
import type { CanvasEdits, ShownWay } from './Canvas.tsx';
import type { PathEdgeType } from './PathEdge.tsx';
import { type ShownStep, type StepNodeType, spoken } from './StepNode.tsx';
import { type Selection, selectedSteps } from './selection.ts';

/** Width and height of the place where paths meet a step, as in designer.css. */
const handleSize = 12;

/** The steps that were dragged to another place. */
export function movedOf(dragged: readonly StepNodeType[], steps: readonly ShownStep[]) {
  const places = new Map(steps.map(({ step }) => [step.id, step.position]));
  const moved = dragged.filter(({ id, position }) => {
    const before = places.get(id);
    return before && !isSamePlace(before, position);
  });
  return moved.map(({ id, position }) => ({ id, position }));
}

const isSamePlace = (one: { x: number; y: number }, other: { x: number; y: number }) =>
  one.x === other.x && one.y === other.y;

/**
 * The steps as nodes of the canvas. A node that would say the same as `before` is the one of before, so that it is not drawn again; what the
 * canvas has measured of the others is kept.
 */
export function nodesOf(
  before: StepNodeType[],
  steps: readonly ShownStep[],
  ways: readonly ShownWay[],
  selection: Selection,
  isEditable: boolean,
): StepNodeType[] {
  const selected = new Set(selectedSteps(selection));
  const known = new Map(before.map((node) => [node.id, node]));
  const waysOfStep = byStep(ways);
  const nodes = steps.map((shown) => {
    const { id, position } = shown.step;
    const old = known.get(id);
    const data = { shown, handles: handlesOf(shown.step, waysOfStep.get(id) ?? []), isEditable };
    const isSame = old !== undefined && isSameData(old.data, data);
    const isSelected = selected.has(id);
    if (isSame && old.selected === isSelected && isSamePlace(old.position, position)) return old;
    return {
      ...old,
      id,
      type: 'step' as const,
      position,
      width: stepSize.width,
      ...measured(data, old?.measured ?? stepSize),
      data: isSame ? old.data : data,
      selected: isSelected,
      ariaLabel: spoken(shown),
    };
  });
  return nodes.length === before.length && nodes.every((node, n) => node === before[n]) ? before : nodes;
}

/** The nodes after some were measured. */
export function measuredIn(changes: readonly NodeChange<StepNodeType>[], nodes: StepNodeType[]): StepNodeType[] {
  const ids = new Set(changes.flatMap((change) => (change.type === 'dimensions' ? [change.id] : [])));
  return ids.size === 0
    ? nodes
    : nodes.map((node) => (ids.has(node.id) ? { ...node, ...measured(node.data, node.measured ?? stepSize) } : node));
}

/** The size of a step, and the places where paths meet it, so that paths to steps which were never drawn can be drawn too. */
function measured(
  { shown, handles }: StepNodeType['data'],
  { height = stepSize.height }: { height?: number },
): Pick<StepNodeType, 'measured' | 'handles'> {
  const { width } = stepSize;
  const handleAt = (x: number, y: number) => ({
    x: x - handleSize / 2,
    y: y - handleSize / 2,
    width: handleSize,
    height: handleSize,
  });
  const ways = handles.map(({ key }, n) => ({
    id: key,
    type: 'source' as const,
    position: Position.Bottom,
    ...handleAt(((n + 0.5) / handles.length) * width, height),
  }));
  const entry = { type: 'target' as const, position: Position.Top, ...handleAt(width / 2, 0) };
  return { measured: { width, height }, handles: shown.step.type === 'TRIGGER' ? ways : [entry, ...ways] };
}

function isSameData(one: StepNodeType['data'], other: StepNodeType['data']): boolean {
  const { step, ...rest } = one.shown;
  const { step: otherStep, ...otherRest } = other.shown;
  return (
    one.isEditable === other.isEditable &&
    sameJson(one.handles, other.handles) &&
    sameParts(step, otherStep) &&
    sameParts(rest, otherRest)
  );
}

/** Whether two objects say the same; parts that are one and the same need no comparison. */
function sameParts<Compared extends object>(one: Compared, other: Compared): boolean {
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]) as Set<keyof Compared>;
  return [...keys].every((key) => sameJson(one[key], other[key]));
}

/** The places where paths leave a step; those of paths that the config no longer knows come last. */
function handlesOf(step: ShownStep['step'], ways: readonly ShownWay[]): WayOut[] {
  const handles = waysOut(step);
  for (const way of ways)
    if (!handles.some(({ key }) => key === wayKey(way)))
      handles.push({ key: wayKey(way), label: way.label, branch: way.branch, waitOutcome: way.waitOutcome });
  return handles;
}

/** The paths as edges of the canvas. Like a node, an edge that would say the same as `before` is the one of before. */
export function edgesOf(
  before: readonly PathEdgeType[],
  steps: readonly ShownStep[],
  ways: readonly ShownWay[],
  selection: Selection,
  edits: { onPress: (wayId: string) => void; onInsert: CanvasEdits['onInsert'] } | undefined,
): PathEdgeType[] {
  const known = new Map(before.map((edge) => [edge.id, edge]));
  const stepOf = new Map(steps.map(({ step }) => [step.id, step]));
  const waysOfStep = byStep(ways);
  const places = placesOf(steps, before[0]?.data?.steps);
  return ways.map((way) => {
    const from = stepOf.get(way.fromStepId);
    const data: NonNullable<PathEdgeType['data']> = {
      steps: places,
      between: [from?.name ?? '', stepOf.get(way.toStepId)?.name ?? ''],
      label: way.label,
      figures: way.figures ?? null,
      at: labelAt(way, from, waysOfStep.get(way.fromStepId) ?? []),
      ...edits,
    };
    const edge: PathEdgeType = {
      id: way.id,
      type: 'path' as const,
      source: way.fromStepId,
      target: way.toStepId,
      sourceHandle: wayKey(way),
      data,
      selected: selection?.kind === 'way' && selection.id === way.id,
      focusable: edits !== undefined,
      markerEnd: {
        type: MarkerType.ArrowClosed,
        width: 16,
        height: 16,
        markerUnits: 'userSpaceOnUse',
        color: way.taken ? 'var(--accent)' : 'var(--line-strong)',
      },
      className: way.taken === undefined ? '' : way.taken ? 'taken' : 'not-taken',
      ariaLabel: `Path from ${data.between[0]} to ${data.between[1]}${way.label ? `: ${way.label}` : ''}${way.figures ? `. ${way.figures.words}` : ''}`,
    };
    const old = known.get(way.id);
    return old && isSameEdge(old, edge) ? old : edge;
  });
}

function isSameEdge(one: PathEdgeType, other: PathEdgeType): boolean {
  // The places of all steps are compared once, and not for each path.
  const whole = ({ data, ...rest }: PathEdgeType) => ({ ...rest, data: { ...data, steps: null } });
  const isAlike = one.data?.steps === other.data?.steps && one.data?.onInsert === other.data?.onInsert;
  return isAlike && sameJson(whole(one), whole(other));
}

/** The places of the steps; the list of before where none has moved. */
function placesOf(steps: readonly ShownStep[], before: readonly { x: number; y: number }[] = []) {
  const places = steps.map(({ step }) => step.position);
  const isSame = places.length === before.length && places.every((place, n) => isSamePlace(place, before[n] ?? place));
  return isSame ? before : places;
}

/** Where the label of a path stands on it: those of paths side by side are not at one height, so that none lies on another. */
function labelAt(way: ShownWay, from: ShownStep['step'] | undefined, siblings: readonly ShownWay[]): number {
  if (siblings.length === 1) return 0.5;
  const keys = from ? waysOut(from).map(({ key }) => key) : [];
  return keys.indexOf(wayKey(way)) % 2 === 0 ? 0.7 : 0.35;
}
