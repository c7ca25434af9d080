import { stepsMarker } from '@fernpost/earlier-name';
import {
  canSplice,
  graphProblem,
  longestNote,
  longestStepName,
  maxSteps,
  sizeProblem,
  type WaitOutcome,
  waitOutcomes,
} from '@fernpost/workflow-graph';
import { keyed } from './add.ts';
import { type DraftStep, type DraftWay, type Graph, newName, withoutStep } from './draft.ts';
import { stepNames, stepSize } from './graph.ts';
import type { StepType } from './shapes.ts';

/** Marks our steps on the clipboard, to tell them from any other JSON. */
const marker = 'fernpost/workflow-steps';
const markers: ReadonlySet<unknown> = new Set([marker, stepsMarker]);

/** The steps of these ids, but for the trigger, with the paths among them, as text for the clipboard; null where that is nothing. */
export function copyText(graph: Graph, ids: readonly string[]): string | null {
  const wanted = new Set(ids);
  const steps = graph.steps.filter(({ id, type }) => wanted.has(id) && type !== 'TRIGGER');
  const copied = new Set(steps.map(({ id }) => id));
  if (steps.length === 0) return null;
  return JSON.stringify({
    type: marker,
    version: 1,
    steps: steps.map(({ bodyText: _, ...step }) => step),
    transitions: graph.transitions
      .filter(({ fromStepId, toStepId }) => copied.has(fromStepId) && copied.has(toStepId))
      .map(({ id: _, ...way }) => way),
  });
}

/** The steps that a text of the clipboard holds, or null where it is none of ours or damaged. */
export function readCopy(text: string): Graph | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isRecord(value) || !markers.has(value.type) || value.version !== 1) return null;
  const { steps, transitions } = value;
  if (!Array.isArray(steps) || steps.length === 0 || steps.length > maxSteps || !steps.every(isStep)) return null;
  const ids = new Set(steps.map(({ id }) => id));
  if (ids.size < steps.length || !Array.isArray(transitions)) return null;
  const ways = transitions.map((way: unknown) => (isWay(way, ids) ? { ...way, id: newName() } : null));
  const whole = ways.filter((way) => way !== null);
  return whole.length === ways.length ? { steps, transitions: whole } : null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isStep(value: unknown): value is DraftStep {
  if (!isRecord(value) || !isRecord(value.position) || !isRecord(value.config)) return false;
  const { id, type, name, position, templateId, template, note } = value;
  return (
    typeof id === 'string' &&
    typeof type === 'string' &&
    Object.hasOwn(stepNames, type) &&
    (type as StepType) !== 'TRIGGER' &&
    typeof name === 'string' &&
    name.length <= longestStepName &&
    Number.isFinite(position.x) &&
    Number.isFinite(position.y) &&
    (note === undefined || note === null || (typeof note === 'string' && note.length <= longestNote)) &&
    (templateId === null || typeof templateId === 'string') &&
    (template === undefined || template === null || (isRecord(template) && typeof template.name === 'string'))
  );
}

function isWay(value: unknown, ids: ReadonlySet<string>): value is Omit<DraftWay, 'id'> {
  if (!isRecord(value)) return false;
  const { fromStepId, toStepId, branch, waitOutcome, priority } = value;
  return (
    typeof fromStepId === 'string' &&
    typeof toStepId === 'string' &&
    ids.has(fromStepId) &&
    ids.has(toStepId) &&
    (branch === null || typeof branch === 'string') &&
    (waitOutcome === null || waitOutcomes.includes(waitOutcome as WaitOutcome)) &&
    Number.isInteger(priority)
  );
}

/** A graph with copied steps beside what it has, and the ids of these. */
export interface Pasted {
  ids: string[];
  change: (graph: Graph) => Graph;
}

/** Why copied steps cannot stand beside those of a graph, in the words of the service; or null. */
export function pasteProblem({ steps, transitions }: Graph, copied: Graph): string | null {
  const [allSteps, allWays] = [steps.length + copied.steps.length, transitions.length + copied.transitions.length];
  return graphProblem(copied) ?? sizeProblem(allSteps, allWays);
}

/** Copied steps as new ones: with ids and names of their own, where no step stands yet. */
export function pasteInto(graph: Graph, copied: Graph): Pasted {
  const ids = new Map(copied.steps.map(({ id }) => [id, newName()]));
  const named = (id: string) => ids.get(id) ?? id;
  const taken = new Set(graph.steps.map(({ name }) => name));
  const by = freeShift(graph.steps, copied.steps);
  const steps = copied.steps.map((step) => {
    const name = freeName(step.name, taken);
    taken.add(name);
    const [id, config] = [named(step.id), keyed(step.type, step.config, named(step.id))];
    return { ...step, id, name, config, position: { x: step.position.x + by, y: step.position.y } };
  });
  const transitions = copied.transitions.map((way) => ({
    ...way,
    id: newName(),
    fromStepId: named(way.fromStepId),
    toStepId: named(way.toStepId),
  }));
  return {
    ids: steps.map(({ id }) => id),
    change: (before) => ({
      steps: [...before.steps, ...steps],
      transitions: [...before.transitions, ...transitions],
    }),
  };
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  const stem = name.replace(/ \d+$/, '');
  for (let n = 2; ; n += 1) {
    const next = `${stem.slice(0, longestStepName - ` ${n}`.length)} ${n}`;
    if (!taken.has(next)) return next;
  }
}

/** How far to the right steps have to stand so that none of them lies on another one. */
function freeShift(present: readonly DraftStep[], added: readonly DraftStep[]): number {
  const lies = (by: number) =>
    added.some(({ position: { x, y } }) =>
      present.some(
        ({ position }) =>
          Math.abs(position.x - x - by) < stepSize.width + 24 && Math.abs(position.y - y) < stepSize.height + 24,
      ),
    );
  let by = 0;
  while (lies(by)) by += stepSize.width + 48;
  return by;
}

/** The graph without some steps: what led to one leads to the next where a single path left it, else it leads nowhere. */
export function withoutSteps(graph: Graph, ids: readonly string[]): Graph {
  return ids.reduce((before, id) => {
    const step = before.steps.find((each) => each.id === id);
    if (step === undefined || step.type === 'TRIGGER') return before;
    if (canSplice(step, before.transitions)) return withoutStep(before, id, true);
    return {
      steps: before.steps.filter((each) => each.id !== id),
      transitions: before.transitions.filter(({ fromStepId, toStepId }) => fromStepId !== id && toStepId !== id),
    };
  }, graph);
}
