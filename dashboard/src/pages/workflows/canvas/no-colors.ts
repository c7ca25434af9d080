/*
 * Stands in for d3-color in the build (vite.config.ts). D3 brings it to blend the colors of animations; the canvas only animates
 * its viewport, which is three numbers. Everything here answers that a value is no color. `color` is a function that can stand
 * right of `instanceof`, where D3 puts it.
 */
export function color(): null {
  return null;
}
export { color as cubehelix, color as hcl, color as hsl, color as lab, color as rgb };
