import {
  Background,
  Controls,
  type EdgeTypes,
  getViewportForBounds,
  MiniMap,
  type NodeTypes,
  ReactFlow,
  type ReactFlowInstance,
  type ReactFlowProps,
  ReactFlowProvider,
  useNodesState,
  useReactFlow,
  useStore,
} from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import '../designer.css';
import { type DragEvent, type KeyboardEvent, type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import type { PathFigures } from '../graph/figures.ts';
import { type Addable, stepSize } from '../graph/graph.ts';
import type { Transition } from '../graph/shapes.ts';
import { boundsOf, legibleZoom, stepsInSight } from '../graph/sight.ts';
import { edgesOf, movedOf, nodesOf } from './canvas-elements.ts';
import { pressKey } from './canvas-keys.ts';
import { useClipboardKeys } from './clipboard.ts';
import { PathEdge, type PathEdgeType } from './PathEdge.tsx';
import { type ShownStep, StepNode, type StepNodeType } from './StepNode.tsx';
import { type OpenFinder, StepSearch } from './StepSearch.tsx';
import { type Selection, selectionOf, toggled } from './selection.ts';

/** A path as the canvas shows it. */
export interface ShownWay {
  id: string;
  fromStepId: string;
  toStepId: string;
  branch: string | null;
  waitOutcome: Transition['waitOutcome'];
  label: string;
  /** Who took it; null or absent where that is not known. */
  figures?: PathFigures | null;
  /** Whether one execution took it; undefined where that is not the question. */
  taken?: boolean;
}

/** The actions on a graph on the canvas. */
export interface CanvasEdits {
  onMove: (moved: { id: string; position: { x: number; y: number } }[]) => void;
  onConnect: (fromStepId: string, way: string, toStepId: string) => void;
  onInsert: (wayId: string, type: Addable) => void;
  onDelete: () => void;
  onDrop: (type: string, position: { x: number; y: number }) => void;
  onUndo: () => void;
  onRedo: () => void;
  /** The selected steps as text for the clipboard; null where that is nothing. */
  onCopy: () => string | null;
  /** `onCopy`; the steps go from the graph. */
  onCut: () => string | null;
  onPaste: (text: string) => void;
  onDuplicate: () => void;
  onSelectAll: () => void;
}

// Below the graph, so that it never lies on a step.
const miniSize = { width: 120, height: 72 };
// Above the graph is room for the buttons that find a step, which would cover its corner.
const fitted = { minZoom: legibleZoom, maxZoom: 1, padding: { x: 0.05, top: '44px', bottom: '8px' } } as const;
const heightBeside = 52;
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
  arranged = 0,
  foot,
}: ShownGraph & {
  label: string;
  /** How many times the graph was arranged; each time it is shown from its beginning. */
  arranged?: number;
  /** Shown below the graph. */
  foot?: ReactNode;
}) {
  const place = useRef<HTMLDivElement>(null);
  const flow = useRef<Flow | null>(null);
  useClipboardKeys(place, edits);
  const { nodes, framed, ...draggable } = useDraggableSteps({ steps, ways, selection, edits });
  const pointer = pointerOf({ selection, onSelect, edits }, framed);
  const [finder, setFinder] = useState<OpenFinder>(null);
  // One for good: a new one would count for the button that shows the whole graph as well.
  const [atFirst] = useState(() => ({ ...fitted, nodes: firstSteps(steps) }));
  const { onKeyDown, onDrop, find, show } = useHands({ steps, ways, selection, onSelect, edits }, place, flow, () =>
    setFinder('search'),
  );
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it hears keys of the steps inside, which are focusable
    <div
      className="canvas"
      ref={place}
      // Keys are heard as well where its empty space was pressed last.
      tabIndex={-1}
      onKeyDown={onKeyDown}
      onDragOver={(event) => edits && event.preventDefault()}
      onDrop={onDrop}
    >
      <ReactFlowProvider>
        <ReactFlow
          aria-label={label}
          nodes={nodes}
          edges={edgesOf(steps, ways, selection, onSelect, edits?.onInsert)}
          nodeTypes={nodeTypes}
          edgeTypes={edgeTypes}
          colorMode="system"
          minZoom={0.1}
          fitView
          fitViewOptions={atFirst}
          disableKeyboardA11y
          deleteKeyCode={null}
          nodesDraggable={edits !== undefined}
          nodesConnectable={edits !== undefined}
          onInit={(instance) => {
            flow.current = instance;
          }}
          {...draggable}
          {...pointer}
        >
          <Background />
          <FitControls steps={steps} arranged={arranged} />
          <ChosenInSight id={selection?.kind === 'step' ? selection.id : null} />
          <StepSearch
            steps={steps}
            ways={ways}
            selected={selection?.kind === 'step' ? selection.id : null}
            open={finder}
            onOpen={setFinder}
            onFind={find}
            onChoose={show}
          />
        </ReactFlow>
        <div className="canvas-foot">
          <p className="muted">{foot}</p>
          <MiniMap pannable zoomable style={miniSize} ariaLabel="Minimap of the workflow" />
        </div>
      </ReactFlowProvider>
    </div>
  );
}

/** Handles selecting and connecting by pointer. */
function pointerOf(
  { selection, onSelect, edits }: Pick<ShownGraph, 'selection' | 'onSelect' | 'edits'>,
  framed: RefObject<Set<string>>,
): Partial<ReactFlowProps<StepNodeType, PathEdgeType>> {
  const isEditable = edits !== undefined;
  return {
    onNodeClick: ({ shiftKey, ctrlKey, metaKey }, { id }) => {
      const isMore = isEditable && (shiftKey || ctrlKey || metaKey);
      onSelect(isMore ? toggled(selection, id) : { kind: 'step', id });
    },
    selectionKeyCode: isEditable ? 'Shift' : null,
    onSelectionStart: () => framed.current.clear(),
    onSelectionEnd: ({ target, clientX, clientY }) => {
      // Shift and a press on a step, during which the pointer moved a little.
      const [pressed, released] = [target as Element, document.elementFromPoint(clientX, clientY)].map(stepAt);
      const isPress = framed.current.size === 0 && pressed !== undefined && pressed === released;
      onSelect(isPress ? toggled(selection, pressed) : selectionOf([...framed.current]));
    },
    onEdgeClick: ({ target }, { id }) => {
      // Clicks in the menu of a path bubble up to here as well.
      if (isEditable && (target as Element).closest('.react-flow__edge')) onSelect({ kind: 'way', id });
    },
    onPaneClick: () => onSelect(null),
    onConnect: ({ source, sourceHandle, target }) => edits?.onConnect(source, sourceHandle ?? 'next', target),
  };
}

/** The ID of the step that is drawn at a place of the page. */
function stepAt(place: Element | null): string | undefined {
  return place?.closest<HTMLElement>('.react-flow__node')?.dataset.id;
}

/** The steps as nodes that follow the pointer; what is dragged is not moved by the graph meanwhile. */
function useDraggableSteps({ steps, ways, selection, edits }: Omit<ShownGraph, 'onSelect'>) {
  const isDragging = useRef(false);
  // The steps inside a frame are reported here before they are drawn, and the pointer may be faster than the drawing.
  const framed = useRef(new Set<string>());
  const isEditable = edits !== undefined;
  const [nodes, setNodes, applyChanges] = useNodesState<StepNodeType>([]);
  const onNodesChange: typeof applyChanges = (changes) => {
    for (const change of changes)
      if (change.type === 'select') framed.current[change.selected ? 'add' : 'delete'](change.id);
    applyChanges(changes);
  };
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
  return { nodes, framed, onNodesChange, onNodeDragStart, onNodeDragStop };
}

/** Hears keys, and steps that are dropped from the toolbar. */
function useHands(
  { steps, ways, selection, onSelect, edits }: ShownGraph,
  place: RefObject<HTMLElement | null>,
  flow: RefObject<Flow | null>,
  onSearch: () => void,
) {
  const focusOn = (id: string, next: Selection = { kind: 'step', id }) => {
    onSelect(next);
    place.current?.querySelector<HTMLElement>(`.react-flow__node[data-id="${id}"]`)?.focus();
  };
  const show = (id: string) => {
    centerOn(flow.current, id, legibleZoom);
    onSelect({ kind: 'step', id });
  };
  const find = (id: string) => {
    show(id);
    focusOn(id);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // Menus of the canvas are drawn elsewhere, and their keys are theirs.
    const target = event.target as HTMLElement;
    if (!place.current?.contains(target) || target.closest('input')) return;
    const actions = {
      select: onSelect,
      focusOn,
      move: edits?.onMove,
      remove: edits?.onDelete,
      undo: edits?.onUndo,
      redo: edits?.onRedo,
      duplicate: edits?.onDuplicate,
      selectAll: edits?.onSelectAll,
      search: onSearch,
    };
    if (!pressKey(event, { steps, ways, selection }, actions)) return;
    event.preventDefault();
    // Shortcuts of the page are not for keys that the canvas has used.
    event.stopPropagation();
  };
  const onDrop = (event: DragEvent) => {
    const type = event.dataTransfer.getData('text/step-type');
    const at = flow.current?.screenToFlowPosition({ x: event.clientX, y: event.clientY });
    if (type && at) edits?.onDrop(type, { x: Math.round(at.x), y: Math.round(at.y) });
  };
  return { onKeyDown, onDrop, find, show };
}

/** Brings the chosen step into sight when it is chosen elsewhere, was just added, or lost its place because the canvas shrank. */
function ChosenInSight({ id }: { id: string | null }) {
  const flow = useReactFlow<StepNodeType, PathEdgeType>();
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const isDrawn = useStore(({ nodeLookup }) => id !== null && nodeLookup.has(id));
  useEffect(() => {
    const node = id === null || !isDrawn ? undefined : flow.getNode(id);
    if (!node || width === 0) return;
    const { x, y, zoom } = flow.getViewport();
    const [left, top] = [node.position.x * zoom + x, node.position.y * zoom + y];
    const [right, bottom] = [left + stepSize.width * zoom, top + stepSize.height * zoom];
    if (left >= 0 && top >= 0 && right <= width && bottom <= height) return;
    centerOn(flow, node.id, 0);
  }, [id, isDrawn, width, height, flow]);
  return null;
}

// Height of page header, toolbar, footer and buttons above the graph, and width of menu and side panel where the window has room for them, in pixels.
const besideCanvas = { height: 330 + heightBeside, width: 640 };
const wideWindow = 960;

/** The steps that can be read at first; all of a small graph. */
function firstSteps(steps: readonly ShownStep[]): { id: string }[] {
  const { innerWidth, innerHeight } = window;
  return stepsInSight(placesOf(steps), {
    width: innerWidth > wideWindow ? innerWidth - besideCanvas.width : innerWidth,
    height: innerHeight - besideCanvas.height,
  });
}

const placesOf = (steps: readonly ShownStep[]) => steps.map(({ step: { id, position } }) => ({ id, position }));

/** The buttons for the zoom. The one that fits the graph into the canvas stops where text can still be read; so does arranging it. */
function FitControls({ steps, arranged }: { steps: readonly ShownStep[]; arranged: number }) {
  const flow = useReactFlow();
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const shown = stepsInSight(placesOf(steps), { width, height: height - heightBeside });
  const done = useRef(arranged);
  useEffect(() => {
    if (done.current === arranged) return;
    done.current = arranged;
    const { minZoom, maxZoom, padding } = fitted;
    void flow.setViewport(getViewportForBounds(boundsOf(shown), width, height, minZoom, maxZoom, padding));
  });
  return <Controls showInteractive={false} orientation="horizontal" fitViewOptions={{ ...fitted, nodes: shown }} />;
}

/** Moves a step to the middle of the canvas, at least at this zoom. */
function centerOn(flow: Flow | null, id: string | null, leastZoom: number): void {
  const node = id === null ? undefined : flow?.getNode(id);
  if (!node || !flow) return;
  const isCalm = window.matchMedia('(prefers-reduced-motion: reduce)').matches;
  const zoom = Math.max(leastZoom, flow.getViewport().zoom);
  const x = node.position.x + (stepSize.width - outlineWidth(zoom)) / 2;
  void flow.setCenter(x, node.position.y + stepSize.height / 2, {
    zoom,
    duration: isCalm ? 0 : 200,
  });
}

/** The width of the open outline, which lies over the left of the canvas, in pixels of the graph; 0 where it leaves a step no room. */
function outlineWidth(zoom: number): number {
  const outline = document.querySelector('.step-search nav')?.getBoundingClientRect();
  const canvas = document.querySelector('.react-flow')?.getBoundingClientRect();
  if (!outline || !canvas || canvas.right - outline.right < stepSize.width * zoom) return 0;
  return (outline.right - canvas.left) / zoom;
}
