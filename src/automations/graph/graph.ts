import type { Graph as GraphOf } from '@fernpost/workflow-graph';
import { eventData } from '../../contacts/events/queries.ts';
import { listFields } from '../../contacts/fields-service.ts';
import { AppError } from '../../lib/errors.ts';
import type { FieldProblem } from '../../lib/validation/problems.ts';
import { checkStepDefinition, Segment } from '../../segments/definition.ts';
import { type Database, raw, sql } from '../../store/sql.ts';
import { triggerIssues } from '../enrollment/triggers.ts';
import type { AutomationRow } from '../rows.ts';
import { enablingIssues } from './drafts.ts';
import { exitsOf, goalOf } from './exits.ts';
import { templatesAmong } from './queries.ts';
import type { Issue, StepBody, TransitionBody } from './schema.ts';
import { readStepConfig, treesOf } from './step-configs.ts';

/** A step as a version of a graph keeps it: without its place on the canvas. The config is as it was saved. */
export type GraphStep = Pick<StepBody, 'id' | 'type' | 'name' | 'config' | 'templateId'>;

/** A path from one step to another; see `PathCondition` for when it is taken. */
export type GraphTransition = Pick<
  TransitionBody,
  'id' | 'fromStepId' | 'toStepId' | 'branch' | 'waitOutcome' | 'priority'
>;

/** The graph of an automation; `packages/workflow-graph` has its rules. */
export type Graph = GraphOf<GraphStep, GraphTransition>;

/** Transitions in the order in which they are tried: priority, then age, then id. */
export function inRoutingOrder<Way extends { priority: number; createdAt: string; id: string }>(
  ways: readonly Way[],
): Way[] {
  return [...ways].sort(
    (one, other) =>
      one.priority - other.priority || compare(one.createdAt, other.createdAt) || compare(one.id, other.id),
  );
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Keys at the top of the data of the newest 100 events with data, of one name or of all. */
async function newestEventKeys(db: Database, projectId: string, name: string | null): Promise<string[]> {
  // Every name comes after the empty one.
  const named = raw(name === null ? '>=' : '=');
  const order = raw(name === null ? 'e.id desc' : 'e.created_at desc, e.id desc');
  const rows = await db.rows<{ key: string }>(sql`
    select distinct jsonb_object_keys(newest.data) as key from (
      select data.data from events e cross join lateral (select ${raw(eventData('e'))} as data) data
      where jsonb_typeof(data.data) = 'object' and e.project_id = ${projectId} and e.name ${named} ${name ?? ''} order by ${order} limit 100) newest`);
  return rows.map(({ key }) => key);
}

/** Returns the fields that a condition of an automation can ask for: those of contacts, and of the events that were recorded recently. */
export async function workflowFields(db: Database, projectId: string, eventName: string | undefined) {
  const name = eventName || null;
  const [{ fields: contactFields }, keys] = await Promise.all([
    listFields(db, projectId),
    name?.includes('\0') ? [] : newestEventKeys(db, projectId, name),
  ]);
  const typedFields = [
    ...contactFields.map(({ field, type, isCustom }) => ({
      field: `contact.${field}`,
      type: type as string,
      category: isCustom ? 'Custom Data' : 'Contact Fields',
    })),
    ...keys.map((key) => ({ field: `event.${key}`, type: 'string', category: 'Event Data' })),
  ].sort((one, other) => (one.field < other.field ? -1 : 1));
  return { fields: typedFields.map(({ field }) => field), typedFields, count: typedFields.length };
}

/** Returns issues as the entries of a 422. */
export function issuesAsProblems(issues: readonly Issue[]): FieldProblem[] {
  return issues.map(({ stepId, field, message }) => ({
    field: stepId === null ? field : `steps.${stepId}.${field}`,
    message,
    code: 'custom',
  }));
}

/** Returns what enabling would refuse: problems of the trigger, then of the graph. */
export async function issuesOf(db: Database, automation: AutomationRow, graph: Graph): Promise<Issue[]> {
  const named = graph.steps.flatMap(({ templateId }) => templateId ?? []);
  const templates = await templatesAmong(db, automation.projectId, named);
  const ofTrigger = await triggerIssues(db, automation);
  const references = await unknownReferences(db, automation, graph);
  return [...ofTrigger.map((issue) => ({ stepId: null, ...issue })), ...enablingIssues(graph, templates, references)];
}

/** What the condition trees of steps refer to that is not there, by the ids of the steps; each `field` within the step. */
async function unknownReferences(
  db: Database,
  { id, projectId }: AutomationRow,
  { steps }: Graph,
): Promise<ReadonlyMap<string, { field: string; message: string }[]>> {
  const found = new Map<string, { field: string; message: string }[]>();
  const graph = { automationId: id, stepIds: new Set(steps.map((step) => step.id)) };
  for (const step of steps) {
    const asks = step.type === 'CONDITION' || step.type === 'TRIGGER';
    const readable = asks && readStepConfig(step.type, step.config).problems === null;
    for (const { field, tree } of readable ? treesOf(step.config) : []) {
      try {
        await checkStepDefinition(db, projectId, tree, graph);
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        found.set(step.id, [...(found.get(step.id) ?? []), { field: `config.${field}`, message: error.message }]);
      }
    }
  }
  const left = [
    ...exitsOf(steps).map(({ on }, place) => ({ field: `exits.${place}`, segmentId: on.leavesSegment })),
    { field: 'goal', segmentId: goalOf(steps)?.on.leavesSegment },
  ].flatMap(({ field, segmentId }) => (segmentId ? [{ field, segmentId }] : []));
  const tracked = await db.em.find(Segment, {
    projectId,
    id: left.map(({ segmentId }) => segmentId),
    trackMembership: true,
  });
  const trigger = steps.find(({ type }) => type === 'TRIGGER');
  for (const { field, segmentId } of left)
    if (trigger && !tracked.some((segment) => segment.id === segmentId)) {
      const message = 'must be a segment of this project that tracks its membership';
      const problem = { field: `config.${field}.on.leavesSegment`, message };
      found.set(trigger.id, [...(found.get(trigger.id) ?? []), problem]);
    }
  return found;
}
