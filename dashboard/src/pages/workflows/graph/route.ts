import { stepSize } from './graph.ts';

/** A point of the graph, in pixels; of a step its upper left corner. */
export interface Point {
  x: number;
  y: number;
}

/** Space between a path and the steps that it passes, in pixels of the graph. */
const clearance = 24;

/** How far a path that leads up goes from a step before it turns. */
const stub = 32;

/**
 * The points that a path goes through: straight from one end to the other, or past the steps that stand between them by the
 * free lane that is the least detour. A path to a step higher up, as from column to column, goes up such a lane with right angles.
 */
export function route(from: Point, to: Point, steps: readonly Point[]): Point[] {
  const isUp = leadsUp([from, to]);
  const [above, below] = isUp ? [to.y - stub, from.y + stub] : [from.y, to.y];
  const between = steps.filter(({ y }) =>
    isUp ? y < below && y + stepSize.height > above : y > above && y + stepSize.height < below,
  );
  const isFree = (x: number) =>
    between.every((box) => x <= box.x - clearance || x >= box.x + stepSize.width + clearance);
  // Of two lanes that are no detour the one above the end meets fewer other paths.
  const lanes = [to.x, from.x, ...between.flatMap(({ x }) => [x - clearance, x + stepSize.width + clearance])];
  const detour = (x: number) => Math.abs(x - from.x) + Math.abs(x - to.x);
  // The widest one that leads up is the gap between two columns.
  const narrowness = (x: number) => (isUp ? -widthOfLane(x, between) : 0);
  const [lane] = lanes.filter(isFree).sort((a, b) => detour(a) - detour(b) || narrowness(a) - narrowness(b));
  if (between.length === 0 || lane === undefined) return [from, to];
  if (isUp)
    return [from, { x: from.x, y: below }, { x: lane, y: below }, { x: lane, y: above }, { x: to.x, y: above }, to];
  const [top, bottom] = [
    Math.min(...between.map(({ y }) => y)),
    Math.max(...between.map(({ y }) => y)) + stepSize.height,
  ];
  return [from, { x: lane, y: top }, { x: lane, y: bottom }, to];
}

/** The space between the steps on the left of a free lane and those on its right. */
function widthOfLane(x: number, steps: readonly Point[]): number {
  const left = steps.filter((step) => step.x < x).map((step) => step.x + stepSize.width);
  const right = steps.filter((step) => step.x > x).map((step) => step.x);
  return Math.min(...right) - Math.max(...left);
}

/** Whether a path leads to a step that is higher up. */
export function leadsUp(points: readonly Point[]): boolean {
  return (points.at(-1)?.y ?? 0) < (points[0]?.y ?? 0);
}

/** A path of straight lines through points, with round corners, as SVG draws it. */
export function roundedPath(points: readonly Point[], radius = 12): string {
  const [first, ...rest] = points;
  if (first === undefined) return '';
  const parts = rest.map((corner, n) => {
    const [before, after] = [points[n] ?? corner, rest[n + 1]];
    if (after === undefined) return `L ${corner.x},${corner.y}`;
    const [start, end] = [towards(corner, before, radius), towards(corner, after, radius)];
    return `L ${start.x},${start.y} Q ${corner.x},${corner.y} ${end.x},${end.y}`;
  });
  return [`M ${first.x},${first.y}`, ...parts].join(' ');
}

/** The point that is so far from one point on the way to another, and at most half-way. */
function towards(from: Point, to: Point, distance: number): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  const part = length === 0 ? 0 : Math.min(0.5, distance / length);
  return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
}
