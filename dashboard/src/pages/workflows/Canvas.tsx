import {
  Background,
  type Connection,
  Controls,
  type Edge,
  Handle,
  MarkerType,
  MiniMap,
  type Node,
  type NodeProps,
  type NodeTypes,
  Position,
  ReactFlow,
  type ReactFlowInstance,
  ReactFlowProvider,
  useNodesState,
} from '@xyflow/react';
import '@xyflow/react/dist/style.css';
import './designer.css';
import { type DragEvent, type KeyboardEvent, memo, type ReactNode, useEffect, useRef } from 'react';
import { count, counted } from '../../words/numbers.ts';
import { pathCountOf, stepNames, stepSize, summary, type WayOut, wayKey, wayOf, waysOut } from './graph/graph.ts';
import type { Issue, People, Step, Transition } from './workflow.ts';

/** A step as the canvas shows it. */
export interface ShownStep {
  step: Pick<Step, 'id' | 'type' | 'name' | 'position' | 'config'> & Partial<Step>;
  people?: People['steps'][number] | undefined;
  issues?: Issue[];
  /** Said below the summary: what became of one execution there. */
  trace?: string | undefined;
  tone?: 'good' | 'warn' | 'bad' | 'info' | undefined;
  /** What is said of it at its head: that it is new, or differs from what is published. */
  mark?: string | undefined;
}

/** A way as the canvas shows it. */
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

/** What is selected: a step or a way. */
export type Selection = { kind: 'step' | 'way'; id: string } | null;

type StepNode = Node<{ shown: ShownStep; handles: WayOut[]; isEditable: boolean }, 'step'>;

const StepBox = memo(function StepBox({ data: { shown, handles, isEditable }, selected }: NodeProps<StepNode>) {
  const { step, people, issues = [], trace, tone, mark } = shown;
  const inside = (people?.running ?? 0) + (people?.waiting ?? 0);
  return (
    <div className="step" data-type={step.type} data-selected={selected} data-tone={tone}>
      {step.type === 'TRIGGER' ? null : <Handle type="target" position={Position.Top} isConnectable={isEditable} />}
      <div className="step-kind">
        <span>{stepNames[step.type]}</span>
        {mark ? <span>{mark}</span> : null}
      </div>
      <div className="step-name" dir="auto">
        {step.name}
      </div>
      <div className="step-summary" dir="auto">
        {summary(step)}
      </div>
      {trace ? <div className="step-trace">{trace}</div> : null}
      {issues.length > 0 ? <div className="step-issue">⚠ {counted(issues.length, 'problem')}</div> : null}
      {inside > 0 ? (
        <div className="step-people">
          {count(inside)} here{people?.waiting ? `, ${count(people.waiting)} waiting` : ''}
        </div>
      ) : null}
      {handles.length > 1 ? (
        <div className="step-ways" aria-hidden="true">
          {handles.map(({ key, label }) => (
            <span key={key} dir="auto">
              {label}
            </span>
          ))}
        </div>
      ) : null}
      {handles.map(({ key }, n) => (
        <Handle
          key={key}
          id={key}
          type="source"
          position={Position.Bottom}
          isConnectable={isEditable}
          style={{ left: `${((n + 0.5) / handles.length) * 100}%` }}
        />
      ))}
    </div>
  );
});

// Below the graph, so that it never lies on a step.
const miniSize = { width: 120, height: 72 };

const nodeTypes: NodeTypes = { step: StepBox };

/** The graph of an automation. Without the callbacks it is only looked at. */
export function Canvas({
  label,
  steps,
  ways,
  selection,
  onSelect,
  onMove,
  onConnect,
  onDelete,
  onDrop,
  onUndo,
  onRedo,
  foot,
}: {
  label: string;
  /** Said below the graph. */
  foot?: ReactNode;
  steps: ShownStep[];
  ways: ShownWay[];
  selection: Selection;
  onSelect: (selection: Selection) => void;
  onMove?: (moved: { id: string; position: { x: number; y: number } }[]) => void;
  onConnect?: (fromStepId: string, way: string, toStepId: string) => void;
  onDelete?: () => void;
  onDrop?: (type: string, position: { x: number; y: number }) => void;
  onUndo?: () => void;
  onRedo?: () => void;
}) {
  const isEditable = onConnect !== undefined;
  const place = useRef<HTMLDivElement>(null);
  const flow = useRef<ReactFlowInstance<StepNode, Edge> | null>(null);
  const [nodes, setNodes, onNodesChange] = useNodesState<StepNode>([]);
  const isDragging = useRef(false);

  useEffect(() => {
    if (isDragging.current) return;
    setNodes((before) =>
      steps.map((shown) => {
        const { step, issues = [], people } = shown;
        const known = before.find(({ id }) => id === step.id);
        const handles = waysOut(step);
        // Ways that the config knows no more still need a place to leave from.
        for (const way of ways)
          if (way.fromStepId === step.id && !handles.some(({ key }) => key === wayKey(way)))
            handles.push({ ...way, key: wayKey(way), label: way.label });
        const inside = (people?.running ?? 0) + (people?.waiting ?? 0);
        return {
          ...(known ?? {}),
          id: step.id,
          type: 'step' as const,
          position: step.position,
          width: stepSize.width,
          data: { shown, handles, isEditable },
          selected: selection?.kind === 'step' && selection.id === step.id,
          ariaLabel: [
            `${stepNames[step.type]}: ${step.name}`,
            summary(step),
            shown.trace ?? '',
            shown.mark ?? '',
            inside > 0 ? `${counted(inside, 'contact')} here` : '',
            issues.length > 0 ? counted(issues.length, 'problem') : '',
          ]
            .filter(Boolean)
            .join('. '),
        };
      }),
    );
  }, [steps, ways, selection, isEditable, setNodes]);

  // A step that is chosen elsewhere, or was just added, comes into sight.
  const chosen = selection?.kind === 'step' ? selection.id : null;
  const isDrawn = nodes.some(({ id }) => id === chosen);
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
  }, [chosen, isDrawn]);

  const edges: Edge[] = ways.map((way) => ({
    id: way.id,
    source: way.fromStepId,
    target: way.toStepId,
    sourceHandle: wayKey(way),
    label: way.label,
    selected: selection?.kind === 'way' && selection.id === way.id,
    focusable: isEditable,
    markerEnd: {
      type: MarkerType.ArrowClosed,
      width: 16,
      height: 16,
      markerUnits: 'userSpaceOnUse',
      color: way.taken ? 'var(--accent)' : 'var(--line-strong)',
    },
    className: way.taken === undefined ? '' : way.taken ? 'taken' : 'not-taken',
    ariaLabel: `Path from ${nameOf(steps, way.fromStepId)} to ${nameOf(steps, way.toStepId)}${way.label ? `: ${way.label}` : ''}`,
  }));

  const focusOn = (id: string) => {
    onSelect({ kind: 'step', id });
    place.current?.querySelector<HTMLElement>(`.react-flow__node[data-id="${id}"]`)?.focus();
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement;
    const nodeId = target.closest<HTMLElement>('.react-flow__node')?.dataset.id;
    const edgeId = target.closest<HTMLElement>('.react-flow__edge')?.dataset.id;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'z') {
      event.preventDefault();
      (event.shiftKey ? onRedo : onUndo)?.();
    } else if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'y') {
      event.preventDefault();
      onRedo?.();
    } else if (event.key === 'Escape') onSelect(null);
    else if ((event.key === 'Delete' || event.key === 'Backspace') && selection) {
      event.preventDefault();
      onDelete?.();
    } else if (event.key === 'Enter' || event.key === ' ') {
      if (nodeId) onSelect({ kind: 'step', id: nodeId });
      else if (edgeId) onSelect({ kind: 'way', id: edgeId });
      else return;
      event.preventDefault();
    } else if (nodeId && event.key.startsWith('Arrow')) {
      event.preventDefault();
      const step = steps.find((shown) => shown.step.id === nodeId)?.step;
      if (event.altKey && step && onMove) {
        const by = arrows[event.key] ?? { x: 0, y: 0 };
        onMove([{ id: nodeId, position: { x: step.position.x + by.x, y: step.position.y + by.y } }]);
        return;
      }
      const next = neighbor(event.key, nodeId, steps, ways);
      if (next) focusOn(next);
    }
  };

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it hears keys of the steps inside, which are focusable
    <div
      className="canvas"
      ref={place}
      onKeyDown={onKeyDown}
      onDragOver={(event) => onDrop && event.preventDefault()}
      onDrop={(event: DragEvent) => {
        const type = event.dataTransfer.getData('text/step-type');
        const at = flow.current?.screenToFlowPosition({ x: event.clientX, y: event.clientY });
        if (type && at && onDrop) onDrop(type, { x: Math.round(at.x), y: Math.round(at.y) });
      }}
    >
      <ReactFlowProvider>
        <ReactFlow
          aria-label={label}
          nodes={nodes}
          edges={edges}
          nodeTypes={nodeTypes}
          colorMode="system"
          minZoom={0.1}
          fitView
          fitViewOptions={{ maxZoom: 1, padding: 0.15 }}
          disableKeyboardA11y
          deleteKeyCode={null}
          nodesDraggable={onMove !== undefined}
          nodesConnectable={isEditable}
          onInit={(instance) => {
            flow.current = instance;
          }}
          onNodesChange={onNodesChange}
          onNodeClick={(_, { id }) => onSelect({ kind: 'step', id })}
          onEdgeClick={(_, { id }) => isEditable && onSelect({ kind: 'way', id })}
          onPaneClick={() => onSelect(null)}
          onNodeDragStart={() => {
            isDragging.current = true;
          }}
          onNodeDragStop={(_, __, moved) => {
            isDragging.current = false;
            const changed = moved.filter(({ id, position }) => {
              const before = steps.find(({ step }) => step.id === id)?.step.position;
              return before && (before.x !== position.x || before.y !== position.y);
            });
            if (changed.length > 0) onMove?.(changed.map(({ id, position }) => ({ id, position })));
          }}
          onConnect={({ source, sourceHandle, target }: Connection) =>
            onConnect?.(source, sourceHandle ?? 'next', target)
          }
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

const arrows: Record<string, { x: number; y: number }> = {
  ArrowUp: { x: 0, y: -20 },
  ArrowDown: { x: 0, y: 20 },
  ArrowLeft: { x: -20, y: 0 },
  ArrowRight: { x: 20, y: 0 },
};

function nameOf(steps: readonly ShownStep[], id: string): string {
  return steps.find(({ step }) => step.id === id)?.step.name ?? '';
}

/** The step that an arrow leads to: up and down along the ways, else the nearest on that side. */
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

/** The ways of a graph with their labels: branch or outcome, and how many took it. */
export function shownWays(
  steps: readonly Pick<Step, 'id' | 'type' | 'config'>[],
  transitions: readonly Pick<Transition, 'id' | 'fromStepId' | 'toStepId' | 'branch' | 'waitOutcome'>[],
  people?: People,
): ShownWay[] {
  return transitions.map((transition) => {
    const { id, fromStepId, toStepId, branch, waitOutcome } = transition;
    const { label } = wayOf(
      steps.find((step) => step.id === fromStepId),
      transition,
    );
    const siblings = transitions.filter((each) => each.fromStepId === fromStepId && each.id !== id);
    const taken = pathCountOf(transition, siblings, people);
    const passed =
      taken.count === 0 ? '' : `${count(taken.count)}${taken.failed > 0 ? ` (${count(taken.failed)} failed)` : ''}`;
    return { id, fromStepId, toStepId, branch, waitOutcome, label: [label, passed].filter(Boolean).join(' · ') };
  });
}
