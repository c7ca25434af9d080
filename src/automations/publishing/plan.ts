import { cycleProblem, endsProblem, pathMeaning, pathProblem, sameJson, stepOnCycle } from '@fernpost/workflow-graph';
import { AppError } from '../../lib/errors.ts';
import { isUuid, newId } from '../../lib/ids.ts';
import type { FieldProblem } from '../../lib/validation/problems.ts';
import type { Draft } from '../graph/drafts.ts';
import { withEnds } from '../graph/exits.ts';
import type { GraphTransition } from '../graph/graph.ts';
import type { NewStep } from '../graph/queries.ts';
import { type StepType, treesOf } from '../graph/step-configs.ts';
import { noteOf, stepContent } from '../graph/step-content.ts';
import { conditionOf } from '../graph/steps.ts';
import type { StepRow, TransitionRow } from '../rows.ts';
import type { GraphChanges, PutGraph } from './schema.ts';

/** A step as it shall be. */
type PlannedStep = NewStep & { isNew: boolean };
/** A transition as it shall be; a new one is made later (`createdAt`) than any that there is. */
type PlannedPath = GraphTransition & { createdAt: string; isNew: boolean };

/** The graph that a request asks for, and its problems. */
export interface GraphPlan {
  /** The ids of new steps, by what they were called in the request. */
  ids: Map<string, string>;
  steps: PlannedStep[];
  transitions: PlannedPath[];
  removedSteps: StepRow[];
  removedPaths: TransitionRow[];
  problems: FieldProblem[];
}

/**
 * The graph that a request asks for, against the one that is there: what stays keeps its id, so that runs that are inside
 * find it again. Refuses what every edit refuses; what only enabling refuses is found by `issuesOf`. `everSteps` are the
 * types of the steps that versions have had, for a step may come back but never as another type.
 */
export function planGraph(draft: Draft, wished: PutGraph, everSteps: ReadonlyMap<string, StepType>): GraphPlan {
  const plan: GraphPlan = {
    ids: new Map(),
    steps: [],
    transitions: [],
    removedSteps: [],
    removedPaths: [],
    problems: [],
  };
  planSteps(draft, wished, everSteps, plan);
  planPaths(draft, wished, plan);
  const wanted = new Set(plan.steps.map(({ id }) => id));
  plan.removedSteps = draft.steps.filter(({ id }) => !wanted.has(id));
  const onCycle = plan.problems.length > 0 ? null : stepOnCycle(plan);
  if (onCycle !== null) refuse(plan, 'transitions', cycleProblem(onCycle.name));
  return plan;
}

/** Adds a problem of the request. */
export function refuse(plan: GraphPlan, field: string, message: string): void {
  plan.problems.push({ field, message, code: 'custom' });
}

// A rule that throws for a single step or transition, as a problem of its place in the request.
function rule<Result>(plan: GraphPlan, field: string, work: () => Result): Result | null {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const [problem] = error.extra.errors ?? [];
    refuse(plan, problem ? `${field}.${problem.field}` : field, problem?.message ?? error.message);
    return null;
  }
}

function planSteps(
  { steps }: Draft,
  wished: PutGraph,
  everSteps: ReadonlyMap<string, StepType>,
  plan: GraphPlan,
): void {
  const present = new Map(steps.map((step) => [step.id, step]));
  const trigger = steps.find(({ type }) => type === 'TRIGGER');
  const seen = new Set<string>();
  for (const [n, step] of wished.steps.entries()) {
    const at = `steps.${n}`;
    const named = step.id.toLowerCase();
    if (seen.has(named)) refuse(plan, `${at}.id`, 'is the id of another step of this list');
    seen.add(named);
    const before = present.get(named);
    const type = before?.type ?? everSteps.get(named) ?? step.type;
    if (type !== step.type) refuse(plan, `${at}.type`, `cannot change: the step is a ${type}`);
    if (step.type === 'TRIGGER' && named !== trigger?.id) {
      refuse(plan, `${at}.type`, 'TRIGGER is that of the step which the workflow was created with');
      continue;
    }
    const id = isUuid(named) ? named : newId();
    if (id !== named) plan.ids.set(step.id, id);
    const { name, position } = step;
    const note = noteOf(step, before?.note ?? null);
    if (before?.type === 'TRIGGER') {
      // It follows the trigger of the workflow.
      const config = withEnds(before.config, before.config, wished);
      plan.steps.push({ ...before, position, note, config, isNew: false });
      continue;
    }
    const content = rule(plan, at, () => stepContent(step.type, step, { config: {}, templateId: null }));
    if (content === null) continue;
    plan.steps.push({ id, type: step.type, name, position, note, ...content, isNew: before === undefined });
  }
  if (trigger && !seen.has(trigger.id)) refuse(plan, 'steps', `must have the TRIGGER step ${trigger.id}`);
  if (plan.ids.size > 0)
    for (const step of plan.steps) if (treesOf(step.config).length > 0) step.config = namedSteps(step.config, plan.ids);
}

/** A config whose filters on mail name the steps by their ids, where the request calls new ones by names of its own. */
function namedSteps<Value>(value: Value, ids: ReadonlyMap<string, string>): Value {
  if (Array.isArray(value)) return value.map((item) => namedSteps(item, ids)) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [
    key,
    key === 'stepId' && typeof inner === 'string' ? (ids.get(inner) ?? inner) : namedSteps(inner, ids),
  ]);
  return Object.fromEntries(entries) as Value;
}

function planPaths(draft: Draft, wished: PutGraph, plan: GraphPlan): void {
  const left = new Map(draft.transitions.map((way) => [pathMeaning(way), way]));
  const byId = new Map(plan.steps.map((step) => [step.id, step]));
  const known = (id: string) => byId.get(plan.ids.get(id) ?? id.toLowerCase());
  for (const [n, way] of wished.transitions.entries()) {
    const at = `transitions.${n}`;
    const [from, to] = [known(way.fromStepId), known(way.toStepId)];
    if (from === undefined) refuse(plan, `${at}.fromStepId`, 'is no step of this graph');
    if (to === undefined) refuse(plan, `${at}.toStepId`, 'is no step of this graph');
    if (from === undefined || to === undefined) continue;
    const ends = endsProblem(from, to);
    if (ends !== null) refuse(plan, at, ends);
    const condition = rule(plan, at, () => conditionOf(from, way));
    if (condition === null) continue;
    const siblings = plan.transitions.filter(({ fromStepId }) => fromStepId === from.id);
    const problem = pathProblem(from, condition, siblings);
    if (problem !== null) refuse(plan, at, problem.message);
    const planned = { fromStepId: from.id, toStepId: to.id, ...condition, priority: way.priority };
    const kept = left.get(pathMeaning(planned));
    left.delete(pathMeaning(planned));
    const createdAt = kept?.createdAt ?? '9999';
    plan.transitions.push({ id: kept?.id ?? newId(), ...planned, createdAt, isNew: kept === undefined });
  }
  plan.removedPaths = [...left.values()];
}

/** Returns the differences between the graph that is there and the planned one. */
export function changesOf({ steps }: Draft, plan: GraphPlan): GraphChanges {
  const present = new Map(steps.map((step) => [step.id, step]));
  const named = ({ id, name, type }: Pick<StepRow, 'id' | 'name' | 'type'>) => ({ id, name, type });
  return {
    steps: [
      ...plan.steps.flatMap((step): GraphChanges['steps'] => {
        const before = present.get(step.id);
        if (before === undefined) return [{ ...named(step), change: 'added', fields: [] }];
        const fields = (['name', 'config', 'templateId', 'note'] as const).filter(
          (key) => !sameJson(before[key], step[key]),
        );
        if (fields.length > 0) return [{ ...named(step), change: 'changed', fields }];
        return sameJson(before.position, step.position) ? [] : [{ ...named(step), change: 'moved', fields }];
      }),
      ...plan.removedSteps.map((step) => ({ ...named(step), change: 'removed' as const, fields: [] })),
    ],
    transitions: [
      ...plan.transitions.filter(({ isNew }) => isNew).map((way) => ({ ...pathFacts(way), change: 'added' as const })),
      ...plan.removedPaths.map((way) => ({ ...pathFacts(way), change: 'removed' as const })),
    ],
  };
}

function pathFacts({
  fromStepId,
  toStepId,
  branch,
  waitOutcome,
}: Pick<PlannedPath, 'fromStepId' | 'toStepId' | 'branch' | 'waitOutcome'>) {
  return { fromStepId, toStepId, branch, waitOutcome };
}
