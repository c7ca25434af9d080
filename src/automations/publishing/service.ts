import type { Database, Sql } from '../../core/database/sql.ts';
import { conflict, invalid } from '../../core/lib/errors.ts';
import type { OutboxTicket } from '../../core/outbox/enqueue.ts';
import { type Graph, inRoutingOrder } from '../graph.ts';
import { deleteSteps, insertStepsTogether, insertTransitionsTogether } from '../graph-queries.ts';
import { stepsOfVersions } from '../migrating/queries.ts';
import { movePeopleOf, previewOfMove } from '../migrating/service.ts';
import { findAutomation, lockAutomation, reviseGraphOf, stepsOf, transitionsOf } from '../queries.ts';
import { checkRevision, type Edited, type Editor } from '../revision.ts';
import { found, issuesAsProblems, issuesOf, workflowWithGraph } from '../service.ts';
import type { Draft } from '../steps-service.ts';
import { graphHash } from '../versions.ts';
import { changesOf, type GraphPlan, planGraph } from './plan.ts';
import { deleteTransitions, holdTemplates, stepIdsElsewhere, updateSteps, versionOfHashIn } from './queries.ts';
import type { PutGraph, PutGraphDone, PutGraphPreview } from './schema.ts';

/** What replacing a graph came to. */
export interface PutGraphAnswer extends Edited<PutGraphDone | PutGraphPreview> {
  tickets: OutboxTicket[];
}

/**
 * Replaces a graph by another one and moves the people inside by a plan, all in one transaction: whoever enters meets the old
 * graph or the new one, never a part of it, and the automation is never off. People inside keep the version that they are in
 * unless the plan moves them, which is why this is allowed while they are there. A dry run says what it would do.
 * @throws 404; 412 where the editor has seen another revision; 422 for a graph that cannot be saved, or that could not be
 * enabled where the automation is, and for rules that cannot work; 409 while another move is under way
 */
export function putGraph(
  db: Database,
  projectId: string,
  id: string,
  wished: PutGraph,
  editor: Editor,
): Promise<PutGraphAnswer> {
  return db.transaction(async (sql) => {
    // A dry run writes nothing, so nobody has to wait for it.
    const find = wished.dryRun ? findAutomation : lockAutomation;
    const automation = found(await find(sql, projectId, id), id);
    await checkRevision(sql, automation, editor.ifMatch);
    const draft = { automation, steps: await stepsOf(sql, id), transitions: await transitionsOf(sql, id) };
    const known = await stepsOfVersions(sql, id);
    const plan = planGraph(draft, wished, new Map(known.map((step) => [step.id, step.type])));
    await checkReferences(sql, draft, wished, plan);
    if (plan.problems.length > 0)
      throw invalid(plan.problems, 'Nothing was saved: correct these places of the request and send it again.');
    const issues = await issuesOf(sql, automation, plan);
    const told = { ids: Object.fromEntries(plan.ids), changes: changesOf(draft, plan) };
    const move = wished.migrate ? moveWithIds(wished.migrate, plan) : null;
    if (wished.dryRun) {
      const people = await previewOf(sql, id, plan, move);
      const { revision } = automation;
      return { body: { dryRun: true, revision, ...told, issues, people }, revision, tickets: [] };
    }
    if (automation.enabled && issues.length > 0)
      throw invalid(
        issuesAsProblems(issues),
        'People enter this workflow: correct the graph, or disable the workflow to save it as it is.',
      );
    await writePlan(sql, draft, plan);
    const revision = await reviseGraphOf(sql, id, editor.userId);
    const moved = move && (await movePeopleOf(sql, automation, { ...move, dryRun: false }, 'migrate.'));
    const workflow = await workflowWithGraph(sql, found(await findAutomation(sql, projectId, id), id));
    const migration = moved?.migration ?? null;
    return { body: { dryRun: false, ...told, workflow, migration }, revision, tickets: moved?.tickets ?? [] };
  });
}

async function checkReferences(sql: Sql, { automation }: Draft, wished: PutGraph, plan: GraphPlan): Promise<void> {
  const added = plan.steps.filter(({ isNew }) => isNew);
  const elsewhere = await stepIdsElsewhere(
    sql,
    automation.id,
    added.map(({ id }) => id),
  );
  const named = plan.steps.flatMap(({ templateId }) => templateId ?? []);
  const templates = await holdTemplates(sql, automation.projectId, named);
  for (const { id, templateId } of plan.steps) {
    const at = `steps.${wished.steps.findIndex((step) => (plan.ids.get(step.id) ?? step.id.toLowerCase()) === id)}`;
    if (elsewhere.has(id))
      plan.problems.push({ field: `${at}.id`, message: 'is no step of this workflow', code: 'custom' });
    if (templateId !== null && !templates.has(templateId))
      plan.problems.push({ field: `${at}.templateId`, message: 'is no template of this project', code: 'custom' });
  }
}

function moveWithIds(move: NonNullable<PutGraph['migrate']>, { ids }: GraphPlan): NonNullable<PutGraph['migrate']> {
  const named = new Map([...ids].map(([name, id]) => [name.toLowerCase(), id]));
  const renamed = <Rule extends { toStepId?: string | null | undefined }>(rule: Rule): Rule =>
    rule.toStepId ? { ...rule, toStepId: named.get(rule.toStepId) ?? rule.toStepId } : rule;
  return { plan: move.plan.map(renamed), otherwise: renamed(move.otherwise) };
}

async function previewOf(
  sql: Sql,
  automationId: string,
  plan: GraphPlan,
  move: PutGraph['migrate'] | null,
): Promise<PutGraphPreview['people']> {
  const graph = graphOf(plan);
  const { id, version, next } = await versionOfHashIn(sql, automationId, graphHash(graph));
  const target = { id: id ?? noVersion, automationId, version: version ?? next, graph };
  return previewOfMove(sql, target, move ?? { plan: [], otherwise: { action: 'finish' } }, 'migrate.');
}

/** Nobody is in a version of this id. */
const noVersion = '00000000-0000-0000-0000-000000000000';

function graphOf({ steps, transitions }: GraphPlan): Graph {
  return {
    steps: steps.map(({ id, type, name, config, templateId }) => ({ id, type, name, config, templateId })),
    transitions: inRoutingOrder(transitions).map(({ id, fromStepId, toStepId, branch, waitOutcome, priority }) => ({
      id,
      fromStepId,
      toStepId,
      branch,
      waitOutcome,
      priority,
    })),
  };
}

async function writePlan(sql: Sql, { automation: { id }, steps }: Draft, plan: GraphPlan): Promise<void> {
  await deleteTransitions(
    sql,
    id,
    plan.removedWays.map((way) => way.id),
  );
  if (plan.removedSteps.length > 0)
    await deleteSteps(
      sql,
      id,
      plan.removedSteps.map((step) => step.id),
    );
  const [added, kept] = [plan.steps.filter(({ isNew }) => isNew), plan.steps.filter(({ isNew }) => !isNew)];
  if (added.length > 0) await insertStepsTogether(sql, added).catch(refuseTakenId);
  const before = new Map(steps.map((step) => [step.id, step]));
  await updateSteps(
    sql,
    id,
    kept.filter((step) => JSON.stringify(step) !== JSON.stringify(before.get(step.id))),
  );
  const ways = plan.transitions.filter(({ isNew }) => isNew).map((way) => ({ ...way, automationId: id }));
  if (ways.length > 0) await insertTransitionsTogether(sql, ways);
}

function refuseTakenId(error: unknown): never {
  if (error instanceof Error && (error as Error & { code?: unknown }).code === '23505')
    throw conflict('A step with one of these IDs was just created by another request: send the request again');
  throw error;
}
