/** Loads what arranges a graph, which is a third of the canvas and needed only for graphs without places, and on demand. */
export const loadLayout = () => import('../graph/layout.ts');
