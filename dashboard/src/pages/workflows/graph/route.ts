import { stepSize } from './graph.ts';

/** A point of the graph, in pixels; of a step its upper left corner. */
export interface Point {
  x: number;
  y: number;
}

/** Space between a path and the steps that it passes, in pixels of the graph. */
const clearance = 24;

/**
 * The points that a path goes through: straight from one end to the other, or past the steps that stand between them by the
 * free lane that is the least detour.
 */
export function route(from: Point, to: Point, steps: readonly Point[]): Point[] {
  const between = steps.filter(({ y }) => y > from.y && y + stepSize.height < to.y);
  const isFree = (x: number) =>
    between.every((box) => x <= box.x - clearance || x >= box.x + stepSize.width + clearance);
  // Of two lanes that are no detour the one above the end meets fewer other paths.
  const lanes = [to.x, from.x, ...between.flatMap(({ x }) => [x - clearance, x + stepSize.width + clearance])];
  const detour = (x: number) => Math.abs(x - from.x) + Math.abs(x - to.x);
  const [lane] = lanes.filter(isFree).sort((a, b) => detour(a) - detour(b));
  if (between.length === 0 || lane === undefined) return [from, to];
  const [top, bottom] = [
    Math.min(...between.map(({ y }) => y)),
    Math.max(...between.map(({ y }) => y)) + stepSize.height,
  ];
  return [from, { x: lane, y: top }, { x: lane, y: bottom }, to];
}
