import { graphIssues } from '@fernpost/workflow-graph';
import { recordChange } from '../../projects/audit/record.ts';
import type { Database } from '../../store/sql.ts';
import { Automation, AutomationVersion } from '../entity.ts';
import { found, lockAutomation, reviseGraphOf, stepsOf, transitionsOf } from '../queries.ts';
import {
  type AutomationRow,
  checkRevision,
  type Edited,
  type EditTarget,
  keepSenders,
  type StepRow,
  type TransitionRow,
} from '../rows.ts';
import { refuseDuringRollout } from '../versions.ts';
import type { Graph, GraphStep } from './graph.ts';
import {
  deleteSteps,
  deleteTransitions,
  holdTemplates,
  insertSteps,
  insertTransitions,
  updateSteps,
} from './queries.ts';
import type { Issue } from './schema.ts';
import { readStepConfig } from './step-configs.ts';
import { webhookSyntaxError } from './webhook-config.ts';

/**
 * Returns what enabling refuses in a graph (docs/contract/campaigns-and-workflows.md#3-5). `templates` are the ids of the project's
 * templates among those that the steps name, `references` what their condition trees name that is not there, by the ids of the steps.
 */
export function enablingIssues(
  graph: Graph,
  templates: ReadonlySet<string>,
  references: ReadonlyMap<string, { field: string; message: string }[]> = new Map(),
): Issue[] {
  return graphIssues(graph, (step) => [
    ...configProblems(step),
    ...templateProblems(step, templates),
    ...(references.get(step.id) ?? []),
  ]);
}

function configProblems({ type, config }: GraphStep): { field: string; message: string }[] {
  const { problems } = readStepConfig(type, config);
  if (problems !== null)
    return problems.map(({ field, message }) => ({ field: field === '' ? 'config' : `config.${field}`, message }));
  const syntax = type === 'WEBHOOK' ? webhookSyntaxError(config) : null;
  if (syntax === null) return [];
  const message = `does not parse at line ${syntax.line}, column ${syntax.column}: ${syntax.message}`;
  return [{ field: `config.${syntax.field}`, message }];
}

function templateProblems({ type, templateId }: GraphStep, templates: ReadonlySet<string>) {
  if (type !== 'SEND_EMAIL' || (templateId !== null && templates.has(templateId))) return [];
  const message = templateId === null ? 'needs a template' : 'names a template that does not exist';
  return [{ field: 'templateId', message }];
}

/** An automation that is being edited: its row is locked, so that edits come one after the other. */
export interface Draft {
  automation: AutomationRow;
  steps: StepRow[];
  transitions: TransitionRow[];
}

/**
 * Runs an edit of a graph in a transaction; the next start sees it.
 * @throws 404, 412 where the editor has seen another revision, 409 while a version is rolled out
 */
export function edit<T>(
  { db, projectId, id, userId, ifMatch }: EditTarget,
  work: (tx: Database, draft: Draft) => Promise<T>,
): Promise<Edited<T>> {
  return db.transaction(async (tx) => {
    const automation = found(await lockAutomation(tx, projectId, id), id);
    await checkRevision(tx, automation, ifMatch);
    await refuseDuringRollout(tx, id);
    const draft = { automation, steps: await draftSteps(tx, id), transitions: await transitionsOf(tx, id) };
    const body = await work(tx, draft);
    if (automation.enabled) await keepSenders(tx, id);
    const revision = await reviseGraphOf(tx, automation, userId);
    const change = { before: { revision: automation.revision }, after: { revision } };
    await recordChange(tx, projectId, { action: 'workflow.graph_edited', target: id, ...change });
    return { body, revision };
  });
}

/** The steps of a draft, in the order they were made. */
export async function draftSteps(tx: Database, id: string): Promise<StepRow[]> {
  return (await stepsOf(tx, id)).map(({ templateName: _, ...step }) => step);
}

/**
 * Makes the draft of a locked automation that of an earlier version again, which is the current one from then on: steps and transitions have
 * the IDs they had. A template that was deleted meanwhile is missing from its step, as it is where the version runs.
 */
export async function restoreDraft(
  tx: Database,
  automation: AutomationRow,
  versionId: string,
  userId: string | null,
): Promise<void> {
  const { id, projectId } = automation;
  const { graph, layout, notes } = await tx.em.findOneOrFail(AutomationVersion, versionId, {
    disableIdentityMap: true,
  });
  const [present, ways] = [await draftSteps(tx, id), await transitionsOf(tx, id)];
  const here = new Map(present.map((step) => [step.id, step]));
  const templates = await holdTemplates(
    tx,
    projectId,
    graph.steps.flatMap(({ templateId }) => templateId ?? []),
  );
  const steps = graph.steps.map((step) => ({
    ...step,
    templateId: step.templateId !== null && templates.has(step.templateId) ? step.templateId : null,
    position: layout?.[step.id] ?? here.get(step.id)?.position ?? { x: 0, y: 0 },
    note: notes?.[step.id] ?? null,
  }));
  const wanted = new Set(steps.map((step) => step.id));
  await deleteTransitions(
    tx,
    id,
    ways.map((way) => way.id),
  );
  await deleteSteps(
    tx,
    id,
    present.filter((step) => !wanted.has(step.id)).map((step) => step.id),
  );
  await insertSteps(
    tx,
    id,
    steps.filter((step) => !here.has(step.id)),
  );
  await updateSteps(
    tx,
    id,
    steps.filter((step) => here.has(step.id)),
  );
  await insertTransitions(tx, id, graph.transitions);
  await reviseGraphOf(tx, automation, userId);
  await tx.em.nativeUpdate(Automation, { id }, { graphDirty: false, currentVersionId: versionId });
}
