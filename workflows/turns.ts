/** Milliseconds until work that found its project busy asks again, the `turn`th time in a row. */
export function pauseOf(turn: number): number {
  return Math.min(15_000, 500 * 2 ** turn);
}
