import { graphIssues } from '@fernpost/workflow-graph';
import { recordChange } from '../../projects/audit/record.ts';
import type { Database } from '../../store/sql.ts';
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
import type { Graph, GraphStep } from './graph.ts';
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
 * @throws 404, 412 where the editor has seen another revision
 */
export function edit<T>(
  { db, projectId, id, userId, ifMatch }: EditTarget,
  work: (tx: Database, draft: Draft) => Promise<T>,
): Promise<Edited<T>> {
  return db.transaction(async (tx) => {
    const automation = found(await lockAutomation(tx, projectId, id), id);
    await checkRevision(tx, automation, ifMatch);
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
