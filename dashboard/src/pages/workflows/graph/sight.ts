import { stepSize } from './graph.ts';
import type { Point } from './route.ts';

/** The zoom at which the smallest text of a step, of 12 px, still has 11. */
export const legibleZoom = 0.92;

/**
 * The steps that a window of this size shows at a legible zoom: all of a graph that fits into it, else those around the first
 * step from the top. Width and height are in pixels of the screen.
 */
export function stepsInSight<Placed extends { id: string; position: Point }>(
  steps: readonly Placed[],
  { width, height }: { width: number; height: number },
): Placed[] {
  const first = [...steps].sort(({ position: one }, { position: other }) => one.y - other.y || one.x - other.x)[0]
    ?.position;
  if (first === undefined) return [];
  const [across, down] = [width / legibleZoom - stepSize.width, height / legibleZoom - stepSize.height];
  const columns = steps.map(({ position }) => position.x);
  const [leftmost, rightmost] = [Math.min(...columns), Math.max(...columns)];
  const left = Math.max(leftmost, Math.min(first.x - across / 2, rightmost - across));
  return steps.filter(
    ({ position: { x, y } }) =>
      (y === first.y && x === first.x) || (y - first.y <= down && x >= left && x - left <= across),
  );
}

/** The rectangle around steps, of which there is at least one, in pixels of the graph. */
export function boundsOf(steps: readonly { position: Point }[]): Point & { width: number; height: number } {
  const [across, down] = [steps.map(({ position }) => position.x), steps.map(({ position }) => position.y)];
  const [x, y] = [Math.min(...across), Math.min(...down)];
  return { x, y, width: Math.max(...across) + stepSize.width - x, height: Math.max(...down) + stepSize.height - y };
}
