import { layout as arrange, graphlib } from '@dagrejs/dagre';
import { stepSize } from './graph/graph.ts';

type Positions = Map<string, { x: number; y: number }>;

/** Places for all steps, from the top down, without crossings where that can be. */
export function automaticLayout(
  steps: readonly { id: string }[],
  ways: readonly { fromStepId: string; toStepId: string }[],
): Positions {
  const graph = new graphlib.Graph();
  graph.setGraph({ rankdir: 'TB', nodesep: 48, ranksep: 72 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id } of steps) graph.setNode(id, { ...stepSize });
  for (const { fromStepId, toStepId } of ways) graph.setEdge(fromStepId, toStepId);
  arrange(graph);
  return new Map(
    steps.map(({ id }) => {
      const { x = 0, y = 0 } = graph.node(id) as { x?: number; y?: number };
      return [id, { x: Math.round(x - stepSize.width / 2), y: Math.round(y - stepSize.height / 2) }];
    }),
  );
}
