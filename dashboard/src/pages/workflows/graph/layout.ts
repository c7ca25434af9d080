import { layout as arrange, graphlib } from '@dagrejs/dagre';
import { inColumns } from './columns.ts';
import { stepSize, wayKey, waysOut } from './graph.ts';
import type { Step, Transition } from './shapes.ts';

type Way = Pick<Transition, 'fromStepId' | 'toStepId' | 'branch' | 'waitOutcome'>;
type Positions = Map<string, { x: number; y: number }>;

/** Space between steps beside each other and below each other, in pixels of the graph. */
const gap = { beside: 48, below: 88 };

/**
 * Places for all steps, from the top down. Paths lie in the order in which they leave their step, so that “yes” is left of
 * “no”, and no two cross in a graph that can be drawn so. A long graph goes on in a column beside.
 */
export function automaticLayout(
  steps: readonly Pick<Step, 'id' | 'type' | 'config'>[],
  ways: readonly Way[],
): Positions {
  const next = targetsInOrder(steps, ways);
  const graph = new graphlib.Graph();
  graph.setGraph({ rankdir: 'TB', nodesep: gap.beside, edgesep: gap.beside, ranksep: gap.below });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id } of steps) graph.setNode(id, { ...stepSize });
  for (const [id, targets] of next) for (const target of targets) graph.setEdge(id, target);
  // A branch that ends between two paths that meet again has to end above the place where they meet.
  for (const [end, join] of enclosedEnds(next)) graph.setEdge(end, join, { weight: 0 });
  arrange(graph, { customOrder: (layered: unknown) => orderLayers(layered as Layered, next) });
  const places = new Map(
    steps.map(({ id }) => {
      const { x = 0, y = 0 } = graph.node(id) as { x?: number; y?: number };
      return [id, { x: Math.round(x - stepSize.width / 2), y: Math.round(y - stepSize.height / 2) }];
    }),
  );
  return inColumns(places, ways);
}

/** For each step those that it leads to, in the order in which the canvas draws its paths. */
function targetsInOrder(steps: readonly Pick<Step, 'id' | 'type' | 'config'>[], ways: readonly Way[]) {
  return new Map(
    steps.map((step) => {
      const keys = waysOut(step).map(({ key }) => key);
      const place = (way: Way) => (keys.indexOf(wayKey(way)) + keys.length + 1) % (keys.length + 1);
      const own = ways.filter(({ fromStepId }) => fromStepId === step.id).sort((a, b) => place(a) - place(b));
      return [step.id, [...new Set(own.map(({ toStepId }) => toStepId))]] as const;
    }),
  );
}

type Targets = ReadonlyMap<string, readonly string[]>;

function entriesOf(next: Targets): string[] {
  const entered = new Set([...next.values()].flat());
  return [...next.keys()].filter((id) => !entered.has(id));
}

/** Steps that lead nowhere and lie between two paths to one step, with that step. */
function enclosedEnds(next: Targets): [end: string, join: string][] {
  const seen: string[] = [];
  const reachedAt = new Map<string, number>();
  const pairs: [string, string][] = [];
  const behind = (id: string) => {
    const all = new Set([id]);
    for (const each of all) for (const target of next.get(each) ?? []) all.add(target);
    return all;
  };
  const visit = (id: string) => {
    seen.push(id);
    for (const target of next.get(id) ?? []) {
      const before = reachedAt.get(target);
      if (before === undefined) {
        reachedAt.set(target, seen.length);
        visit(target);
        continue;
      }
      const below = behind(target);
      const ends = seen.slice(before).filter((each) => next.get(each)?.length === 0 && !below.has(each));
      pairs.push(...ends.map((end): [string, string] => [end, target]));
      reachedAt.set(target, seen.length);
    }
  };
  for (const id of entriesOf(next)) visit(id);
  return pairs;
}

interface Layered {
  nodes(): string[];
  node(id: string): { rank?: number; order?: number; width?: number; dummy?: string };
  successors(id: string): string[] | undefined;
}

/**
 * Orders each layer. Of two things in one layer none leads to the other, so the one on the left is the one that comes first
 * in the topological order that follows paths from the left: depth first from the right, reversed when left.
 */
function orderLayers(layered: Layered, next: Targets): void {
  const targetOf = (id: string): string => {
    const [only = id] = layered.node(id).dummy ? (layered.successors(id) ?? []) : [];
    return only === id ? id : targetOf(only);
  };
  const done = new Set<string>();
  const reversed: string[] = [];
  const visit = (id: string) => {
    if (done.has(id)) return;
    done.add(id);
    const order = next.get(id) ?? [];
    const successors = [...(layered.successors(id) ?? [])];
    successors.sort((a, b) => order.indexOf(targetOf(b)) - order.indexOf(targetOf(a)));
    for (const successor of successors) visit(successor);
    reversed.push(id);
  };
  for (const id of entriesOf(next).reverse()) visit(id);
  for (const id of layered.nodes()) visit(id);
  const filled = new Map<number, number>();
  for (const id of reversed.reverse()) {
    const node = layered.node(id);
    const order = filled.get(node.rank ?? 0) ?? 0;
    filled.set(node.rank ?? 0, order + 1);
    node.order = order;
    // A path that passes a layer gets as much space there as a label needs.
    if (node.dummy) node.width = gap.beside;
  }
}
