import type { FieldProblem } from '@fernpost/validation';
import type { Database } from '../../core/database/sql.ts';
import { triggerIssues } from '../enrollment/triggers.ts';
import type { AutomationRow } from '../rows.ts';
import { enablingIssues } from './checks.ts';
import type { Graph } from './graph.ts';
import { templatesAmong } from './queries.ts';
import type { Issue } from './schema.ts';

/** What enabling would refuse, as the entries of a 422. */
export function issuesAsProblems(issues: readonly Issue[]): FieldProblem[] {
  return issues.map(({ stepId, field, message }) => ({
    field: stepId === null ? field : `steps.${stepId}.${field}`,
    message,
    code: 'custom',
  }));
}

/** What enabling would refuse: problems of the trigger, then of the graph. */
export async function issuesOf(db: Database, automation: AutomationRow, graph: Graph): Promise<Issue[]> {
  const named = graph.steps.flatMap(({ templateId }) => templateId ?? []);
  const templates = await templatesAmong(db, automation.projectId, named);
  const ofTrigger = await triggerIssues(db, automation);
  return [...ofTrigger.map((issue) => ({ stepId: null, ...issue })), ...enablingIssues(graph, templates)];
}
