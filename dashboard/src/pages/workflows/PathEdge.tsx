import { BaseEdge, type Edge, EdgeLabelRenderer, type EdgeProps, useStore } from '@xyflow/react';
import { Plus } from 'lucide-react';
import type { Addable } from './graph/graph.ts';
import { type Point, route } from './graph/route.ts';
import { StepMenu } from './StepMenu.tsx';

/** An edge of the canvas: a path from one step to the next. */
export type PathEdgeType = Edge<
  {
    /** Where the steps of the graph are, which the path goes past. */
    steps: readonly Point[];
    /** The names of the two steps. */
    between: readonly [string, string];
    onInsert?: ((type: Addable) => void) | undefined;
  },
  'path'
>;

/** A path, drawn past the steps in its way, with a button that inserts a step. */
export function PathEdge({ sourceX, sourceY, targetX, targetY, label, markerEnd, data }: EdgeProps<PathEdgeType>) {
  const points = route({ x: sourceX, y: sourceY }, { x: targetX, y: targetY }, data?.steps ?? []);
  const isDirect = points.length === 2;
  const [from, to] = isDirect ? points : points.slice(1, 3);
  if (!from || !to) return null;
  const at = (part: number) => (isDirect ? onCurve(from, to, part) : between(from, to, part));
  const labelAt = at(label ? 0.4 : 0.5);
  const { onInsert } = data ?? {};
  return (
    <>
      <BaseEdge
        path={pathThrough(points)}
        label={label}
        labelX={labelAt.x}
        labelY={labelAt.y}
        {...(markerEnd ? { markerEnd } : {})}
      />
      {onInsert && data ? <InsertButton at={at(label ? 0.75 : 0.5)} names={data.between} onInsert={onInsert} /> : null}
    </>
  );
}

function InsertButton({
  at,
  names: [from, to],
  onInsert,
}: {
  at: Point;
  names: readonly [string, string];
  onInsert: (type: Addable) => void;
}) {
  const zoom = useStore(({ transform }) => transform[2]);
  // As large as ever where the graph is small; where it is tiny it would hide the graph.
  if (zoom < 0.4) return null;
  const scale = Math.max(1, 1 / zoom);
  return (
    <EdgeLabelRenderer>
      <div
        className="path-insert nodrag nopan"
        style={{ transform: `translate(-50%, -50%) translate(${at.x}px, ${at.y}px) scale(${scale})` }}
      >
        <StepMenu
          label="Insert a step"
          without={['EXIT']}
          onChoose={onInsert}
          trigger={
            <button type="button" aria-label={`Insert a step between ${from} and ${to}`}>
              <Plus aria-hidden />
            </button>
          }
        />
      </div>
    </EdgeLabelRenderer>
  );
}

const bend = (from: Point, to: Point) => Math.max(24, Math.abs(to.y - from.y) / 2);

function pathThrough([first, ...rest]: readonly Point[]): string {
  let last = first ?? { x: 0, y: 0 };
  const parts = [`M ${last.x},${last.y}`];
  for (const point of rest) {
    const by = bend(last, point);
    parts.push(
      point.x === last.x && point.y > last.y
        ? `L ${point.x},${point.y}`
        : `C ${last.x},${last.y + by} ${point.x},${point.y - by} ${point.x},${point.y}`,
    );
    last = point;
  }
  return parts.join(' ');
}

/** The point of the curve between two points at a part of its way. */
function onCurve(from: Point, to: Point, t: number): Point {
  const by = bend(from, to);
  const [a, b, c, d] = [(1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t ** 2, t ** 3];
  return { x: (a + b) * from.x + (c + d) * to.x, y: a * from.y + b * (from.y + by) + c * (to.y - by) + d * to.y };
}

function between(from: Point, to: Point, t: number): Point {
  return { x: from.x + (to.x - from.x) * t, y: from.y + (to.y - from.y) * t };
}
