import { pathMeaning, sameJson } from '@fernpost/workflow-graph';
import { type DraftStep, type DraftWay, type Graph, isSameStep } from './draft.ts';
import { wayKey } from './graph.ts';

/** A step that two people have changed in the same place. What is shown is one's own until it is decided. */
export interface Conflict {
  stepId: string;
  /** Theirs; null where they have deleted it. */
  theirs: DraftStep | null;
}

/** The result of merging the local graph with one that somebody else saved. */
export interface Merged {
  graph: Graph;
  conflicts: Conflict[];
}

const parts = ['name', 'config', 'templateId', 'note', 'position'] as const;

/**
 * Brings two edits of one graph together: what only one of the two has changed is as they left it. Where both have changed the
 * same part of a step differently, one's own stays and the step is a conflict. Nothing of theirs is deleted unseen: a step that
 * one has deleted and they have changed is kept.
 */
export function merge(base: Graph, mine: Graph, theirs: Graph): Merged {
  const of = (graph: Graph) => new Map(graph.steps.map((step) => [step.id, step]));
  const [before, own, other] = [of(base), of(mine), of(theirs)];
  const conflicts: Conflict[] = [];
  const steps: DraftStep[] = [];
  for (const id of new Set([...other.keys(), ...own.keys()])) {
    const [b, m, t] = [before.get(id), own.get(id), other.get(id)];
    if (m && t) {
      const { step, clashes } = mergeStep(b ?? t, m, t);
      steps.push(step);
      if (clashes) conflicts.push({ stepId: id, theirs: t });
    } else if (m && !b) steps.push(m);
    else if (t && (!b || !isSameStep(b, t))) steps.push(t);
    else if (m && b && !isSameStep(b, m)) {
      steps.push(m);
      conflicts.push({ stepId: id, theirs: null });
    }
  }
  return { graph: { steps, transitions: mergeWays(base, mine, theirs, steps) }, conflicts };
}

function mergeStep(base: DraftStep, mine: DraftStep, theirs: DraftStep): { step: DraftStep; clashes: boolean } {
  const step = { ...theirs };
  let clashes = false;
  for (const part of parts) {
    const isMine = !sameJson(mine[part] ?? null, base[part] ?? null);
    const isTheirs = !sameJson(theirs[part] ?? null, base[part] ?? null);
    if (isMine) Object.assign(step, { [part]: mine[part] });
    if (isMine && isTheirs && part !== 'position' && !sameJson(mine[part], theirs[part])) clashes = true;
  }
  // Text that is no JSON yet is one's own typing.
  if (mine.bodyText !== undefined && sameJson(step.config, mine.config)) step.bodyText = mine.bodyText;
  if (sameJson(step.templateId, mine.templateId) && mine.template !== undefined) step.template = mine.template;
  // A trigger follows the settings of the automation, which are saved apart.
  if (theirs.type !== 'TRIGGER') return { step, clashes };
  return { step: { ...theirs, position: step.position, note: step.note ?? null }, clashes: false };
}

const outOf = (way: DraftWay) => `${way.fromStepId} ${wayKey(way)}`;

function mergeWays(base: Graph, mine: Graph, theirs: Graph, steps: readonly DraftStep[]): DraftWay[] {
  const present = new Set(steps.map(({ id }) => id));
  const texts = (graph: Graph) => new Set(graph.transitions.map(pathMeaning));
  const [before, own, other] = [texts(base), texts(mine), texts(theirs)];
  const added = mine.transitions.filter((way) => !before.has(pathMeaning(way)));
  // A way out that one has led elsewhere is one's own; what they made of it meanwhile gives way.
  const taken = new Set(added.map(outOf));
  const kept = theirs.transitions.filter((way) => {
    const text = pathMeaning(way);
    return !taken.has(outOf(way)) && (own.has(text) || !before.has(text));
  });
  // A step that they have deleted and one has changed keeps its ways.
  const gone = new Set(steps.filter(({ id }) => !theirs.steps.some((step) => step.id === id)).map(({ id }) => id));
  const restored = mine.transitions.filter(
    (way) =>
      before.has(pathMeaning(way)) &&
      !other.has(pathMeaning(way)) &&
      (gone.has(way.fromStepId) || gone.has(way.toStepId)),
  );
  const used = new Set([...kept, ...added].map(outOf));
  const all = [...kept, ...added, ...restored.filter((way) => !used.has(outOf(way)))];
  return all.filter(({ fromStepId, toStepId }) => present.has(fromStepId) && present.has(toStepId));
}

/** The graph with a conflict decided for them. */
export function takeTheirs(graph: Graph, { stepId, theirs }: Conflict): Graph {
  if (theirs !== null)
    return {
      ...graph,
      steps: graph.steps.map((step) => (step.id === stepId ? { ...theirs, position: step.position } : step)),
    };
  return {
    steps: graph.steps.filter(({ id }) => id !== stepId),
    transitions: graph.transitions.filter(({ fromStepId, toStepId }) => fromStepId !== stepId && toStepId !== stepId),
  };
}
