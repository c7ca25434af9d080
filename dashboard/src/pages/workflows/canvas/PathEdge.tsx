import { BaseEdge, type Edge, EdgeLabelRenderer, type EdgeProps, useStore } from '@xyflow/react';
import { Plus } from 'lucide-react';
import { Tip } from '../../../ui/Tip.tsx';
import { StepMenu } from '../designer/StepMenu.tsx';
import type { PathFigures } from '../graph/figures.ts';
import type { Addable } from '../graph/graph.ts';
import { leadsUp, type Point, roundedPath, route } from '../graph/route.ts';

/** An edge of the canvas: a path from one step to the next. */
export type PathEdgeType = Edge<
  {
    /** Where the steps of the graph are, which the path goes past. */
    steps: readonly Point[];
    /** The names of the two steps. */
    between: readonly [string, string];
    /** The branch or outcome that it is for; empty for a plain one. */
    label: string;
    figures: PathFigures | null;
    /** Where on it that stands, from 0 at its beginning to 1. */
    at: number;
    /** Selects a path. */
    onPress?: ((wayId: string) => void) | undefined;
    onInsert?: ((wayId: string, type: Addable) => void) | undefined;
  },
  'path'
>;

/** A path, drawn past the steps in its way, with who took it and a button that inserts a step. */
export function PathEdge({ id, sourceX, sourceY, targetX, targetY, markerEnd, data }: EdgeProps<PathEdgeType>) {
  const points = route({ x: sourceX, y: sourceY }, { x: targetX, y: targetY }, data?.steps ?? []);
  const isDirect = points.length === 2;
  const isUp = !isDirect && leadsUp(points);
  const [from, to] = isDirect ? points : points.slice(isUp ? 2 : 1);
  if (!from || !to) return null;
  const part = data?.at ?? 0.5;
  const at = isDirect ? onCurve(from, to, part) : between(from, to, part);
  return (
    <>
      <BaseEdge path={isUp ? roundedPath(points) : pathThrough(points)} {...(markerEnd ? { markerEnd } : {})} />
      {data ? <OnPath id={id} at={at} data={data} /> : null}
    </>
  );
}

/** The size of what stands on a path, so that it can still be read where the graph is small, and never hides it. */
const largest = 1.8;

function OnPath({ id, at, data }: { id: string; at: Point; data: NonNullable<PathEdgeType['data']> }) {
  const zoom = useStore(({ transform }) => transform[2]);
  const { between: names, label, figures, onPress, onInsert } = data;
  const scale = Math.min(largest, Math.max(1, 1 / zoom));
  return (
    <EdgeLabelRenderer>
      <div
        className="on-path nodrag nopan"
        style={{ transform: `translate(-50%, -50%) translate(${at.x}px, ${at.y}px) scale(${scale})` }}
      >
        {label || figures ? (
          <PathLabel label={label} figures={figures} onPress={onPress && (() => onPress(id))} />
        ) : null}
        {onInsert && zoom >= 0.4 ? <InsertButton names={names} onInsert={(type) => onInsert(id, type)} /> : null}
      </div>
    </EdgeLabelRenderer>
  );
}

function PathLabel({
  label,
  figures,
  onPress,
}: {
  label: string;
  figures: PathFigures | null;
  onPress: (() => void) | undefined;
}) {
  const text = [label, figures?.text ?? ''].filter(Boolean).join(' · ');
  // Its words are those of the path, which has a tab stop of its own.
  const chip = (
    <button type="button" tabIndex={-1} className="path-label" onClick={onPress}>
      <span dir="auto">{text}</span>
      {figures?.drop ? <span className="path-drop">{figures.drop}</span> : null}
    </button>
  );
  return figures ? <Tip text={figures.words}>{chip}</Tip> : chip;
}

function InsertButton({
  names: [from, to],
  onInsert,
}: {
  names: readonly [string, string];
  onInsert: (type: Addable) => void;
}) {
  return (
    <span className="path-insert">
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
    </span>
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
