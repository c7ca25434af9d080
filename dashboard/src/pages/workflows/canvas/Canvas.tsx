import {
  applyNodeChanges,
  Background,
  type EdgeTypes,
  MiniMap,
  type NodeChange,
  type NodeTypes,
  ReactFlow,
  type ReactFlowProps,
  ReactFlowProvider,
} from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import '../designer.css';
import {
  type DragEvent,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { useWhole } from '../../../standby/use-part.ts';
import type { PathFigures } from '../graph/figures.ts';
import type { Addable } from '../graph/graph.ts';
import type { Transition } from '../graph/shapes.ts';
import { legibleZoom } from '../graph/sight.ts';
import { edgesOf, measuredIn, movedOf, nodesOf } from './canvas-elements.ts';
import { pressKey } from './canvas-keys.ts';
import { useClipboardKeys } from './clipboard.ts';
import { PathEdge, type PathEdgeType } from './PathEdge.tsx';
import { type ShownStep, StepNode, type StepNodeType } from './StepNode.tsx';
import { type OpenFinder, StepSearch } from './StepSearch.tsx';
import { type Selection, selectionOf, toggled } from './selection.ts';
import { ChosenInSight, centerOn, FitControls, type Flow } from './sight.tsx';
import { useSteady } from './steady.ts';

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

// Map and zoom are below the graph, so that they never lie on a step or on the label of a path.
const miniSize = { width: 120, height: 72 };
const nodeTypes: NodeTypes = { step: StepNode };
const edgeTypes: EdgeTypes = { path: PathEdge };

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
  const graph = { steps, ways, selection, onSelect, edits };
  const drawing = useFlow(graph, flow);
  const [finder, setFinder] = useState<OpenFinder>(null);
  const isWhole = useWhole();
  const { onKeyDown, onDrop, find, show } = useHands(graph, place, flow, () => setFinder('search'));
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
          nodeTypes={nodeTypes}
          edgeTypes={edgeTypes}
          colorMode="system"
          minZoom={0.1}
          onlyRenderVisibleElements={!isWhole}
          disableKeyboardA11y
          deleteKeyCode={null}
          nodesDraggable={edits !== undefined}
          nodesConnectable={edits !== undefined}
          {...drawing}
        >
          <Background />
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
          <FitControls steps={steps} arranged={arranged} />
          <MiniMap pannable zoomable style={miniSize} ariaLabel="Minimap of the workflow" />
        </div>
      </ReactFlowProvider>
    </div>
  );
}

/** The graph as React Flow draws it, and what it calls. */
function useFlow(graph: ShownGraph, flow: RefObject<Flow | null>): Partial<ReactFlowProps<StepNodeType, PathEdgeType>> {
  const { nodes, framed, ...dragging } = useDraggableSteps(graph);
  const edges = useEdges(graph);
  const handlers = useSteady({
    ...pointerOf(graph, framed),
    ...dragging,
    onInit: (instance: Flow) => {
      flow.current = instance;
    },
  });
  return { nodes, edges, selectionKeyCode: graph.edits ? 'Shift' : null, ...handlers };
}

/** The paths as edges; those that stay as they are are not drawn again. */
function useEdges({ steps, ways, selection, onSelect, edits }: ShownGraph): PathEdgeType[] {
  const drawn = useRef<PathEdgeType[]>([]);
  const isEditable = edits !== undefined;
  const presses = useSteady({
    onPress: (id: string) => onSelect({ kind: 'way', id }),
    onInsert: (id: string, type: Addable) => edits?.onInsert(id, type),
  });
  return useMemo(() => {
    drawn.current = edgesOf(drawn.current, steps, ways, selection, isEditable ? presses : undefined);
    return drawn.current;
  }, [steps, ways, selection, isEditable, presses]);
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
  const [nodes, setNodes] = useState<StepNodeType[]>(() => nodesOf([], steps, ways, selection, isEditable));
  const onNodesChange = (changes: NodeChange<StepNodeType>[]) => {
    for (const change of changes)
      if (change.type === 'select') framed.current[change.selected ? 'add' : 'delete'](change.id);
    setNodes((before) => measuredIn(changes, applyNodeChanges(changes, before)));
  };
  useEffect(() => {
    if (!isDragging.current) setNodes((before) => nodesOf(before, steps, ways, selection, isEditable));
  }, [steps, ways, selection, isEditable]);
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
