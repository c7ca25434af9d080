import { graphIssues } from '@fernpost/workflow-graph';
import type { Graph, GraphStep } from './graph.ts';
import type { Issue } from './schema.ts';
import { readStepConfig } from './step-configs.ts';
import { webhookSyntaxError } from './webhook-config.ts';

/**
 * What enabling refuses in a graph (docs/contract/campaigns-and-workflows.md#3-5). `templates` are the ids of the project's
 * templates among those that the steps name.
 */
export function enablingIssues(graph: Graph, templates: ReadonlySet<string>): Issue[] {
  return graphIssues(graph, (step) => [...configProblems(step), ...templateProblems(step, templates)]);
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
