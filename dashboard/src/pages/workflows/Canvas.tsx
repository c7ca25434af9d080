import {
  Background,
  Controls,
  type EdgeTypes,
  MarkerType,
  MiniMap,
  type NodeTypes,
  ReactFlow,
  type ReactFlowInstance,
  ReactFlowProvider,
  useNodesState,
} from '@xyflow/react';
import '@xyflow/react/dist/style.css';
import './designer.css';
import { type DragEvent, type KeyboardEvent, type ReactNode, type RefObject, useEffect, useRef } from 'react';
import { pressKey } from './canvas-keys.ts';
import { type Addable, stepSize, wayKey, waysOut } from './graph/graph.ts';
import { PathEdge, type PathEdgeType } from './PathEdge.tsx';
import { type ShownStep, StepNode, type StepNodeType, spoken } from './StepNode.tsx';
import type { Transition } from './workflow.ts';

/** A path as the canvas shows it. */
export interface ShownWay {
  id: string;
  fromStepId: string;
  toStepId: string;
  branch: string | null;
  waitOutcome: Transition['waitOutcome'];
  label: string;
  /** Whether one execution took it; undefined where that is not the question. */
  taken?: boolean;
}

/** What is selected: a step or a path. */
export type Selection = { kind: 'step' | 'way'; id: string } | null;

/** What can be done to a graph on the canvas. */
export interface CanvasEdits {
  onMove: (moved: { id: string; position: { x: number; y: number } }[]) => void;
  onConnect: (fromStepId: string, way: string, toStepId: string) => void;
  onInsert: (wayId: string, type: Addable) => void;
  onDelete: () => void;
  onDrop: (type: string, position: { x: number; y: number }) => void;
  onUndo: () => void;
  onRedo: () => void;
}

// Below the graph, so that it never lies on a step.
const miniSize = { width: 120, height: 72 };
const nodeTypes: NodeTypes = { step: StepNode };
const edgeTypes: EdgeTypes = { path: PathEdge };

type Flow = ReactFlowInstance<StepNodeType, PathEdgeType>;

/** A graph with what is selected in it. */
interface ShownGraph {
  steps: ShownStep[];
  ways: ShownWay[];
  selection: Selection;
  onSelect: (selection: Selection) => void;
  edits?: CanvasEdits | undefined;
}

/** The graph of an automation. Without `edits` it is read-only. */
export function Canvas({
  label,
  steps,
  ways,
  selection,
  onSelect,
  edits,
  foot,
}: ShownGraph & {
  label: string;
  /** Shown below the graph. */
  foot?: ReactNode;
}) {
  const place = useRef<HTMLDivElement>(null);
  const flow = useRef<Flow | null>(null);
  const isEditable = edits !== undefined;
  const { nodes, ...draggable } = useDraggableSteps({ steps, ways, selection, edits });
  const chosen = selection?.kind === 'step' ? selection.id : null;
  useInSight(
    chosen,
    nodes.some(({ id }) => id === chosen),
    place,
    flow,
  );

  const { onKeyDown, onDrop } = useHands({ steps, ways, selection, onSelect, edits }, place, flow);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it hears keys of the steps inside, which are focusable
    <div
      className="canvas"
      ref={place}
      onKeyDown={onKeyDown}
      onDragOver={(event) => edits && event.preventDefault()}
      onDrop={onDrop}
    >
      <ReactFlowProvider>
        <ReactFlow
          aria-label={label}
          nodes={nodes}
          edges={edgesOf(steps, ways, selection, edits?.onInsert)}
          nodeTypes={nodeTypes}
          edgeTypes={edgeTypes}
          colorMode="system"
          minZoom={0.1}
          fitView
          fitViewOptions={{ maxZoom: 1, padding: 0.15 }}
          disableKeyboardA11y
          deleteKeyCode={null}
          nodesDraggable={isEditable}
          nodesConnectable={isEditable}
          onInit={(instance) => {
            flow.current = instance;
          }}
          {...draggable}
          onNodeClick={(_, { id }) => onSelect({ kind: 'step', id })}
          onEdgeClick={({ target }, { id }) => {
            // What is pressed in the menu of a path arrives here as well.
            if (isEditable && (target as Element).closest('.react-flow__edge')) onSelect({ kind: 'way', id });
          }}
          onPaneClick={() => onSelect(null)}
          onConnect={({ source, sourceHandle, target }) => edits?.onConnect(source, sourceHandle ?? 'next', target)}
        >
          <Background />
          <Controls showInteractive={false} orientation="horizontal" />
        </ReactFlow>
        <div className="canvas-foot">
          <p className="muted">{foot}</p>
          <MiniMap pannable zoomable style={miniSize} ariaLabel="Minimap of the workflow" />
        </div>
      </ReactFlowProvider>
    </div>
  );
}

/** The steps as nodes that follow the pointer; what is dragged is not moved by the graph meanwhile. */
function useDraggableSteps({ steps, ways, selection, edits }: Omit<ShownGraph, 'onSelect'>) {
  const isDragging = useRef(false);
  const isEditable = edits !== undefined;
  const [nodes, setNodes, onNodesChange] = useNodesState<StepNodeType>([]);
  useEffect(() => {
    if (!isDragging.current) setNodes((before) => nodesOf(before, steps, ways, selection, isEditable));
  }, [steps, ways, selection, isEditable, setNodes]);
  const onNodeDragStart = () => {
    isDragging.current = true;
  };
  const onNodeDragStop = (_: unknown, __: unknown, dragged: StepNodeType[]) => {
    isDragging.current = false;
    const moved = movedOf(dragged, steps);
    if (moved.length > 0) edits?.onMove(moved);
  };
  return { nodes, onNodesChange, onNodeDragStart, onNodeDragStop };
}

/** Hears keys, and steps that are dropped from the toolbar. */
function useHands(
  { steps, ways, selection, onSelect, edits }: ShownGraph,
  place: RefObject<HTMLElement | null>,
  flow: RefObject<Flow | null>,
) {
  const focusOn = (id: string) => {
    onSelect({ kind: 'step', id });
    place.current?.querySelector<HTMLElement>(`.react-flow__node[data-id="${id}"]`)?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // Menus of the canvas are drawn elsewhere, and their keys are theirs.
    if (!place.current?.contains(event.target as HTMLElement)) return;
    const actions = {
      select: onSelect,
      focusOn,
      move: edits?.onMove,
      remove: edits?.onDelete,
      undo: edits?.onUndo,
      redo: edits?.onRedo,
    };
    if (pressKey(event, { steps, ways, selection }, actions)) event.preventDefault();
  };
  const onDrop = (event: DragEvent) => {
    const type = event.dataTransfer.getData('text/step-type');
    const at = flow.current?.screenToFlowPosition({ x: event.clientX, y: event.clientY });
    if (type && at) edits?.onDrop(type, { x: Math.round(at.x), y: Math.round(at.y) });
  };
  return { onKeyDown, onDrop };
}

function movedOf(dragged: readonly StepNodeType[], steps: readonly ShownStep[]) {
  const moved = dragged.filter(({ id, position }) => {
    const before = steps.find(({ step }) => step.id === id)?.step.position;
    return before && (before.x !== position.x || before.y !== position.y);
  });
  return moved.map(({ id, position }) => ({ id, position }));
}

function nodesOf(
  before: readonly StepNodeType[],
  steps: readonly ShownStep[],
  ways: readonly ShownWay[],
  selection: Selection,
  isEditable: boolean,
): StepNodeType[] {
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
      selected: selection?.kind === 'step' && selection.id === step.id,
      ariaLabel: spoken(shown),
    };
  });
}

function edgesOf(
  steps: readonly ShownStep[],
  ways: readonly ShownWay[],
  selection: Selection,
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
      label: way.label,
      data: { steps: places, between, onInsert: onInsert && ((type) => onInsert(way.id, type)) },
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
      ariaLabel: `Path from ${between[0]} to ${between[1]}${way.label ? `: ${way.label}` : ''}`,
    };
  });
}

/** Brings a step into sight that is chosen elsewhere, or was just added. */
function useInSight(
  chosen: string | null,
  isDrawn: boolean,
  place: RefObject<HTMLElement | null>,
  flow: RefObject<Flow | null>,
): void {
  useEffect(() => {
    const node = chosen === null || !isDrawn ? undefined : flow.current?.getNode(chosen);
    const frame = place.current?.querySelector('.react-flow')?.getBoundingClientRect();
    if (!node || !frame || !flow.current) return;
    const { x, y, zoom } = flow.current.getViewport();
    const [left, top] = [node.position.x * zoom + x, node.position.y * zoom + y];
    const [right, bottom] = [left + stepSize.width * zoom, top + stepSize.height * zoom];
    if (left >= 0 && top >= 0 && right <= frame.width && bottom <= frame.height) return;
    const isCalm = window.matchMedia('(prefers-reduced-motion: reduce)').matches;
    void flow.current.setCenter(node.position.x + stepSize.width / 2, node.position.y + stepSize.height / 2, {
      zoom,
      duration: isCalm ? 0 : 200,
    });
  }, [chosen, isDrawn, place, flow]);
}
