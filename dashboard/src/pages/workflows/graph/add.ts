import { sameJson } from '@fernpost/workflow-graph';
import { type DraftStep, type Graph, newName, withNewStep, withStepBetween, withWay } from './draft.ts';
import { type Addable, addable, openWays, stepNames, stepSize } from './graph.ts';

const below = stepSize.height + 72;

/** A new step of a type, with a name that no other step has. */
function newStep({ steps }: Graph, type: Addable, position: DraftStep['position']): DraftStep {
  const id = newName();
  const config = keyed(type, addable.find((each) => each.type === type)?.config ?? {}, id);
  const taken = new Set(steps.map(({ name }) => name));
  let name = stepNames[type];
  for (let n = 2; taken.has(name); n += 1) name = `${stepNames[type]} ${n}`;
  return { id, type, name, position, config, templateId: null };
}

/** The config of a new step. A split gets the key by which it assigns contacts, so that a test run before it is saved is right. */
export function keyed(type: DraftStep['type'], config: DraftStep['config'], key: string): DraftStep['config'] {
  return type === 'SPLIT' ? { ...config, key } : config;
}

// Whether a step is as it was added.
function isUntouched({ type, name, config, templateId, note, bodyText }: DraftStep): boolean {
  const added = addable.find((each) => each.type === type);
  const isNamedSo = name.replace(/ \d+$/, '') === stepNames[type];
  return (
    isNamedSo &&
    sameJson(config, added && keyed(type, added.config, String(config.key))) &&
    !templateId &&
    !note &&
    !bodyText
  );
}

/** The problems of a graph without those of new steps that nobody has begun to fill in, which are no mistakes yet. */
export function withoutUntouched<Issue extends { stepId: string | null }>(
  issues: readonly Issue[],
  { steps }: Graph,
  saved: { steps: readonly { id: string }[] },
): Issue[] {
  const known = new Set(saved.steps.map(({ id }) => id));
  const untouched = new Set(steps.filter((step) => !known.has(step.id) && isUntouched(step)).map(({ id }) => id));
  return issues.filter(({ stepId }) => stepId === null || !untouched.has(stepId));
}

/** The graph with a new step, and the ID of that step. */
export interface Added {
  id: string;
  change: (graph: Graph) => Graph;
}

/** A new step at a place, or without one behind the step `from`, on its first open path; else below everything. */
export function addStep(graph: Graph, type: Addable, at: DraftStep['position'] | null, from?: DraftStep): Added {
  const source = at === null ? from : undefined;
  const [out] = source ? openWays(source, graph.transitions) : [];
  const beside = graph.transitions.filter(({ fromStepId }) => fromStepId === source?.id).length;
  const lowest = Math.max(...graph.steps.map(({ position }) => position.y));
  const behind =
    source && out
      ? { x: source.position.x + beside * (stepSize.width + 48), y: source.position.y + below }
      : { x: graph.steps[0]?.position.x ?? 100, y: lowest + below };
  const step = newStep(graph, type, at ?? behind);
  return {
    id: step.id,
    change: (before) => {
      const grown = withNewStep(before, step);
      return source && out ? withWay(grown, source.id, out.key, step.id) : grown;
    },
  };
}

/** A new step between the two of a path. */
export function insertStep(graph: Graph, type: Addable, wayId: string): Added {
  const way = graph.transitions.find(({ id }) => id === wayId);
  const placeOf = (id: string | undefined) => graph.steps.find((step) => step.id === id)?.position ?? { x: 0, y: 0 };
  const step = newStep(graph, type, { x: placeOf(way?.toStepId).x, y: placeOf(way?.fromStepId).y + below });
  return { id: step.id, change: (before) => withStepBetween(before, wayId, step) };
}
