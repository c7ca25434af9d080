import { UniqueConstraintViolationException } from '@mikro-orm/core';
import { conflict, invalid } from '../../lib/errors.ts';
import { leastId } from '../../lib/ids.ts';
import { recordChange } from '../../projects/audit/record.ts';
import type { OutboxTicket } from '../../store/outbox/queries.ts';
import type { Database } from '../../store/sql.ts';
import { AutomationStep } from '../entity.ts';
import { type Draft, draftSteps } from '../graph/drafts.ts';
import { type Graph, inRoutingOrder, issuesAsProblems, issuesOf } from '../graph/graph.ts';
import {
  deleteSteps,
  deleteTransitions,
  holdTemplates,
  insertSteps,
  insertTransitions,
  updateSteps,
} from '../graph/queries.ts';
import { stepsOfVersions } from '../migrating/queries.ts';
import { migrateContactsOf, previewOfMove } from '../migrating/service.ts';
import { findAutomation, found, lockAutomation, reviseGraphOf, transitionsOf } from '../queries.ts';
import { checkRevision, type Edited, type EditTarget, keepSenders } from '../rows.ts';
import { workflowWithGraph } from '../service.ts';
import { draftGraph, ensureVersion, graphHash, placeOfGraph, runningRollout } from '../versions.ts';
import { changesOf, type GraphPlan, planGraph, refuse } from './plan.ts';
import { beginRollout, checkRollout, closeRollout } from './rollout.ts';
import type { GraphChanges, PutGraph, PutGraphDone, PutGraphPreview } from './schema.ts';

/** The outcome of replacing a graph. */
export interface PutGraphAnswer extends Edited<PutGraphDone | PutGraphPreview> {
  tickets: OutboxTicket[];
}

/**
 * Replaces a graph by another one and migrates the contacts inside by a plan, all in one transaction: a new run gets the old
 * graph or the new one, never a part of it, and the automation is never off. Contacts inside keep the version that they are in
 * unless the plan moves them, which is why this is allowed while they are there. A dry run says what it would do.
 * @throws 404; 412 where the editor has seen another revision; 422 for a graph that cannot be saved, or that could not be
 * enabled where the automation is, and for rules that cannot work; 409 while another migration is under way, and for a rollout that cannot begin
 */
export function putGraph(
  { db, projectId, id, userId, ifMatch }: EditTarget,
  wished: PutGraph,
): Promise<PutGraphAnswer> {
  return db.transaction(async (tx) => {
    // A dry run writes nothing, so nobody has to wait for it.
    const find = wished.dryRun ? findAutomation : lockAutomation;
    const automation = found(await find(tx, projectId, id), id);
    await checkRevision(tx, automation, ifMatch);
    const { draft, plan, graph } = await plannedGraph(tx, automation, wished);
    if (plan.problems.length > 0)
      throw invalid(plan.problems, 'Nothing was saved: correct these places of the request and send it again.');
    const issues = await issuesOf(tx, automation, plan);
    const outcome = { ids: Object.fromEntries(plan.ids), changes: changesOf(draft, plan) };
    const move = wished.migrate ? moveWithIds(wished.migrate, plan) : null;
    if (wished.rollout) {
      const isChanged = !graphHash(graph).equals(graphHash(await draftGraph(tx, id)));
      await checkRollout(tx, automation, { migrates: move !== null, isChanged });
    }
    if (wished.dryRun) {
      const people = await previewOf(tx, id, plan, move);
      const { revision } = automation;
      return { body: { dryRun: true, revision, ...outcome, issues, people }, revision, tickets: [] };
    }
    if (automation.enabled && issues.length > 0)
      throw invalid(
        issuesAsProblems(issues),
        'Contacts enter this workflow: correct the graph, or disable the workflow to save it as it is.',
      );
    // What new contacts have got until now.
    const before = wished.rollout ? await ensureVersion(tx, id) : null;
    const replaced = await runningRollout(tx, id);
    if (replaced !== null) await closeRollout(tx, replaced, 'REPLACED');
    await writePlan(tx, draft, plan, outcome.changes);
    if (automation.enabled) await keepSenders(tx, id);
    const revision = await reviseGraphOf(tx, automation, userId);
    if (wished.rollout && before !== null) await beginRollout(tx, id, before, wished.rollout);
    const moved = move && (await migrateContactsOf(tx, automation, { ...move, dryRun: false }, 'migrate.'));
    const workflow = await workflowWithGraph(tx, found(await findAutomation(tx, projectId, id), id));
    const migration = moved?.migration ?? null;
    await recordChange(tx, projectId, {
      action: 'workflow.published',
      target: id,
      after: { revision, migration: migration?.id, rollout: wished.rollout?.percent },
    });
    return { body: { dryRun: false, ...outcome, workflow, migration }, revision, tickets: moved?.tickets ?? [] };
  });
}

/** Plans what a request makes of the saved graph, and notes every problem in the plan. Writes nothing. */
export async function plannedGraph(
  tx: Database,
  automation: Draft['automation'],
  wished: PutGraph,
): Promise<{ draft: Draft; plan: GraphPlan; graph: Graph }> {
  const { id } = automation;
  const draft = { automation, steps: await draftSteps(tx, id), transitions: await transitionsOf(tx, id) };
  const known = await stepsOfVersions(tx, id);
  const plan = planGraph(draft, wished, new Map(known.map((step) => [step.id, step.type])));
  await checkReferences(tx, draft, wished, plan);
  return { draft, plan, graph: graphOf(plan) };
}

async function checkReferences(tx: Database, { automation }: Draft, wished: PutGraph, plan: GraphPlan): Promise<void> {
  const added = plan.steps.filter(({ isNew }) => isNew).map(({ id }) => id);
  const others = { id: added, automationId: { $ne: automation.id } };
  const rows = await tx.em.find(AutomationStep, others, { fields: ['id'] });
  const elsewhere = new Set(rows.map(({ id }) => id));
  const named = plan.steps.flatMap(({ templateId }) => templateId ?? []);
  const templates = await holdTemplates(tx, automation.projectId, named);
  for (const { id, templateId } of plan.steps) {
    const at = `steps.${wished.steps.findIndex((step) => (plan.ids.get(step.id) ?? step.id.toLowerCase()) === id)}`;
    if (elsewhere.has(id)) refuse(plan, `${at}.id`, 'is no step of this workflow');
    if (templateId !== null && !templates.has(templateId))
      refuse(plan, `${at}.templateId`, 'is no template of this project');
  }
}

function moveWithIds(move: NonNullable<PutGraph['migrate']>, { ids }: GraphPlan): NonNullable<PutGraph['migrate']> {
  const named = new Map([...ids].map(([name, id]) => [name.toLowerCase(), id]));
  const renamed = <Rule extends { toStepId?: string | null | undefined }>(rule: Rule): Rule =>
    rule.toStepId ? { ...rule, toStepId: named.get(rule.toStepId) ?? rule.toStepId } : rule;
  return { plan: move.plan.map(renamed), otherwise: renamed(move.otherwise) };
}

async function previewOf(
  tx: Database,
  automationId: string,
  plan: GraphPlan,
  move: PutGraph['migrate'] | null,
): Promise<PutGraphPreview['people']> {
  const graph = graphOf(plan);
  const { id, version } = await placeOfGraph(tx, automationId, graph);
  const target = { id: id ?? leastId, automationId, version, graph };
  // Nobody is in a version of the least ID.
  return previewOfMove(tx, target, move ?? { plan: [], otherwise: { action: 'finish' } }, 'migrate.');
}

function graphOf({ steps, transitions }: GraphPlan): Graph {
  return {
    steps: steps.map(({ id, type, name, config, templateId }) => ({ id, type, name, config, templateId })),
    transitions: inRoutingOrder(transitions).map(({ isNew: _, createdAt: _at, ...way }) => way),
  };
}

async function writePlan(tx: Database, { automation: { id } }: Draft, plan: GraphPlan, changes: GraphChanges) {
  const idsOf = (rows: readonly { id: string }[]) => rows.map((row) => row.id);
  if (plan.removedPaths.length > 0) await deleteTransitions(tx, id, idsOf(plan.removedPaths));
  if (plan.removedSteps.length > 0) await deleteSteps(tx, id, idsOf(plan.removedSteps));
  const added = plan.steps.filter(({ isNew }) => isNew);
  if (added.length > 0) await insertSteps(tx, id, added).catch(refuseTakenId);
  const touched = new Set(idsOf(changes.steps));
  const changed = plan.steps.filter((step) => !step.isNew && touched.has(step.id));
  if (changed.length > 0) await updateSteps(tx, id, changed);
  const ways = plan.transitions.filter(({ isNew }) => isNew);
  if (ways.length > 0) await insertTransitions(tx, id, ways);
}

function refuseTakenId(error: unknown): never {
  if (error instanceof UniqueConstraintViolationException)
    throw conflict('A step with one of these IDs was just created by another request: send the request again');
  throw error;
}
