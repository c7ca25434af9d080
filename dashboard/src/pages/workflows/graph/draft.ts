import { connectionProblem, pathMeaning, reachableFrom, sameJson } from '@fernpost/workflow-graph';
import { stepSize, waysOut } from './graph.ts';
import type { Step, Transition } from './shapes.ts';

/** A step as it is being edited. A new one is called by a text that is no id until the service has given it one. */
export interface DraftStep extends Step {
  /** The body of a webhook as it was typed; the config has it as soon as it is JSON. */
  bodyText?: string;
}

/** A way between two steps as it is being edited. */
export type DraftWay = Transition;

/** A whole graph as it is being edited. */
export interface Graph {
  steps: DraftStep[];
  transitions: DraftWay[];
}

/** The graph of an automation as the service has it. */
export function graphOf({ steps, transitions }: { steps: readonly Step[]; transitions: readonly Transition[] }): Graph {
  return {
    steps: steps.map(({ id, type, name, position, config, templateId, template, note = null }) => ({
      id,
      type,
      name,
      position,
      config,
      templateId,
      template,
      note,
    })),
    transitions: transitions.map(({ id, fromStepId, toStepId, branch, waitOutcome, priority }) => ({
      id,
      fromStepId,
      toStepId,
      branch,
      waitOutcome,
      priority,
    })),
  };
}

/** A name for something new that is no id of the service. */
export function newName(): string {
  return `new-${Math.random().toString(36).slice(2, 12)}`;
}

/** The graph as `PUT /workflows/{id}/graph` takes it. */
export function bodyOf({ steps, transitions }: Graph) {
  return {
    steps: steps.map(({ id, type, name, position, config, templateId, note = null }) => ({
      id,
      type,
      name,
      position,
      config,
      templateId,
      note,
    })),
    transitions: transitions.map(({ fromStepId, toStepId, branch, waitOutcome, priority }) => ({
      fromStepId,
      toStepId,
      branch,
      waitOutcome,
      priority,
    })),
  };
}

/** The body of a webhook that was typed: null for none, undefined for what is no JSON. */
export function parsedBody(bodyText: string): unknown {
  if (bodyText.trim() === '') return null;
  try {
    return JSON.parse(bodyText) as unknown;
  } catch {
    return undefined;
  }
}

/** The body of a webhook as its form shows it. */
export function shownBody({ bodyText, config: { body } }: Pick<DraftStep, 'bodyText' | 'config'>): string {
  return bodyText ?? (body === undefined || body === null ? '' : JSON.stringify(body, null, 2));
}

/** Whether something was typed that is no JSON yet. */
export function hasBrokenBody({ bodyText }: Pick<DraftStep, 'bodyText'>): boolean {
  return bodyText !== undefined && parsedBody(bodyText) === undefined;
}

const content = (step: DraftStep): readonly unknown[] => {
  const { name, config, templateId, bodyText, note } = step;
  return [name, config, templateId, note || null, hasBrokenBody(step) ? bodyText : null];
};

/** Whether two steps say the same, wherever they stand. */
export function isSameStep(one: DraftStep, other: DraftStep): boolean {
  const theirs = content(other);
  return content(one).every((part, n) => sameJson(part, theirs[n]));
}

/** How many steps and ways differ between two graphs. */
export function countChanges(before: Graph, after: Graph): number {
  const known = new Map(before.steps.map((step) => [step.id, step]));
  const present = new Set(after.steps.map(({ id }) => id));
  const steps = after.steps.filter((step) => {
    const old = known.get(step.id);
    return old === undefined || !isSameStep(old, step) || !sameJson(old.position, step.position);
  });
  const [oldWays, newWays] = [before.transitions.map(pathMeaning), after.transitions.map(pathMeaning)];
  const ways =
    newWays.filter((text) => !oldWays.includes(text)).length + oldWays.filter((text) => !newWays.includes(text)).length;
  return steps.length + before.steps.filter(({ id }) => !present.has(id)).length + ways;
}

/** The graph with one step changed. */
export function withStep(graph: Graph, id: string, change: Partial<DraftStep>): Graph {
  return { ...graph, steps: graph.steps.map((step) => (step.id === id ? { ...step, ...change } : step)) };
}

/** The graph with steps at other places. */
export function withPlaces(graph: Graph, places: ReadonlyMap<string, DraftStep['position']>): Graph {
  return {
    ...graph,
    steps: graph.steps.map((step) => {
      const position = places.get(step.id);
      return position && !sameJson(position, step.position) ? { ...step, position } : step;
    }),
  };
}

/** The graph with one more step. */
export function withNewStep(graph: Graph, step: DraftStep): Graph {
  return { ...graph, steps: [...graph.steps, step] };
}

/** The graph with the way of this key leading to a step, or to nothing where `toStepId` is empty. */
export function withWay(graph: Graph, fromStepId: string, key: string, toStepId: string): Graph {
  const step = graph.steps.find(({ id }) => id === fromStepId);
  const way = step && waysOut(step).find((each) => each.key === key);
  if (way === undefined) return graph;
  const { branch, waitOutcome } = way;
  const others = graph.transitions.filter(
    (each) => each.fromStepId !== fromStepId || each.branch !== branch || each.waitOutcome !== waitOutcome,
  );
  const made = { id: newName(), fromStepId, toStepId, branch, waitOutcome, priority: 0 };
  return { ...graph, transitions: toStepId === '' ? others : [...others, made] };
}

/** Why two steps cannot be connected, or null: what the service would say, while somebody drags. */
export function connectProblem({ steps, transitions }: Graph, fromStepId: string, toStepId: string): string | null {
  const [from, to] = [fromStepId, toStepId].map((id) => steps.find((step) => step.id === id));
  return from && to ? connectionProblem(transitions, from, to) : null;
}

/** The graph without a way. */
export function withoutWay(graph: Graph, id: string): Graph {
  return { ...graph, transitions: graph.transitions.filter((way) => way.id !== id) };
}

/** The graph without a step: alone, its ways then leading on, or with everything behind it. */
export function withoutStep(graph: Graph, id: string, splice: boolean): Graph {
  const gone = splice ? new Set([id]) : reachableFrom(graph.transitions, id);
  const next = graph.transitions.find(({ fromStepId }) => fromStepId === id)?.toStepId;
  const ways = graph.transitions.flatMap((way) => {
    if (gone.has(way.fromStepId)) return [];
    if (!gone.has(way.toStepId)) return [way];
    return splice && next !== undefined ? [{ ...way, id: newName(), toStepId: next }] : [];
  });
  return { steps: graph.steps.filter((step) => !gone.has(step.id)), transitions: ways };
}

/** The graph with a step between the two of a way; what follows makes room. */
export function withStepBetween(graph: Graph, wayId: string, step: DraftStep): Graph {
  const way = graph.transitions.find(({ id }) => id === wayId);
  if (way === undefined) return graph;
  const [onward] = waysOut(step);
  const below = reachableFrom(graph.transitions, way.toStepId);
  const places = new Map(
    graph.steps
      .filter(({ id }) => below.has(id))
      .map(({ id, position }) => [id, { x: position.x, y: position.y + stepSize.height + 72 }]),
  );
  const { steps } = withPlaces(graph, places);
  const out = {
    id: newName(),
    fromStepId: step.id,
    toStepId: way.toStepId,
    branch: onward?.branch ?? null,
    waitOutcome: null,
    priority: 0,
  };
  return {
    steps: [...steps, step],
    transitions: [
      ...graph.transitions.map((each) => (each.id === wayId ? { ...each, id: newName(), toStepId: step.id } : each)),
      out,
    ],
  };
}

/** The same graph with the ids that the service has given to new steps. */
export function withIds(graph: Graph, ids: Readonly<Record<string, string>>): Graph {
  const now = (id: string) => ids[id] ?? id;
  return {
    steps: graph.steps.map((step) => ({ ...step, id: now(step.id) })),
    transitions: graph.transitions.map((way) => ({
      ...way,
      fromStepId: now(way.fromStepId),
      toStepId: now(way.toStepId),
    })),
  };
}
