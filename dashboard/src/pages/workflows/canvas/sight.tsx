import { Controls, getViewportForBounds, type ReactFlowInstance, useReactFlow, useStore } from '@xyflow/react';
import { useEffect, useRef } from 'react';
import { stepSize } from '../graph/graph.ts';
import { boundsOf, legibleZoom, stepsInSight } from '../graph/sight.ts';
import type { PathEdgeType } from './PathEdge.tsx';
import type { ShownStep, StepNodeType } from './StepNode.tsx';

/** The canvas as it can be moved and asked where it is. */
export type Flow = ReactFlowInstance<StepNodeType, PathEdgeType>;

// Above the graph is room for the buttons that find a step, which would cover its corner.
const fitted = { minZoom: legibleZoom, maxZoom: 1, padding: { x: 0.05, top: '44px', bottom: '8px' } } as const;
const heightBeside = 52;

/** Brings the chosen step into sight when it is chosen elsewhere, was just added, or lost its place because the canvas shrank. */
export function ChosenInSight({ id }: { id: string | null }) {
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

/** The buttons for the zoom. The one that fits the graph into the canvas stops where text can still be read; so does opening and arranging it. */
export function FitControls({ steps, arranged }: { steps: readonly ShownStep[]; arranged: number }) {
  const flow = useReactFlow();
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const places = steps.map(({ step: { id, position } }) => ({ id, position }));
  const shown = stepsInSight(places, { width, height: height - heightBeside });
  const done = useRef<number | null>(null);
  useEffect(() => {
    if (done.current === arranged || width === 0) return;
    done.current = arranged;
    const { minZoom, maxZoom, padding } = fitted;
    void flow.setViewport(getViewportForBounds(boundsOf(shown), width, height, minZoom, maxZoom, padding));
  });
  return <Controls showInteractive={false} orientation="horizontal" fitViewOptions={{ ...fitted, nodes: shown }} />;
}

/** Moves a step to the middle of the canvas, at least at this zoom. */
export function centerOn(flow: Flow | null, id: string | null, leastZoom: number): void {
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
