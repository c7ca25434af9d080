import {
  branchProblem,
  type Graph,
  type GraphStep,
  type GraphTransition,
  maxSteps,
  reachableFrom,
  stepOnCycle,
  triggerOf,
} from './graph.ts';
import type { Issue } from './schema.ts';
import { readStepConfig } from './step-configs.ts';
import { webhookSyntaxError } from './webhook-config.ts';

/**
 * What enabling refuses in a graph (contract page 2, 3.5). `templates` are the ids of the project's templates among those
 * that the steps name. Steps that no run can reach are not checked.
 */
export function graphIssues(graph: Graph, templates: ReadonlySet<string>): Issue[] {
  const issues: Issue[] = [];
  const triggers = graph.steps.filter((step) => step.type === 'TRIGGER');
  if (triggers.length !== 1)
    issues.push({ stepId: null, field: 'steps', message: 'must have exactly one TRIGGER step' });
  if (graph.steps.length > maxSteps)
    issues.push({ stepId: null, field: 'steps', message: `must have at most ${maxSteps} steps` });
  const circle = stepOnCycle(graph);
  if (circle !== null) issues.push(issueOf(circle, 'transitions', 'must not lead back to the step itself'));
  const trigger = triggerOf(graph);
  const reached = trigger ? reachableFrom(graph.transitions, trigger.id) : new Set<string>();
  for (const step of graph.steps) {
    if (!reached.has(step.id)) continue;
    issues.push(...configIssues(step, templates));
    issues.push(...pathIssues(step, graph));
  }
  return issues;
}

function issueOf(step: GraphStep, field: string, message: string): Issue {
  return { stepId: step.id, field, message: `Step "${step.name}": ${message}` };
}

/** What is wrong with the config of a step, and with the template it names. */
function configIssues(step: GraphStep, templates: ReadonlySet<string>): Issue[] {
  const { problems } = readStepConfig(step.type, step.config);
  const issues = (problems ?? []).map(({ field, message }) =>
    issueOf(step, field === '' ? 'config' : `config.${field}`, message),
  );
  if (step.type === 'SEND_EMAIL') {
    if (step.templateId === null) issues.push(issueOf(step, 'templateId', 'needs a template'));
    else if (!templates.has(step.templateId))
      issues.push(issueOf(step, 'templateId', 'names a template that does not exist'));
  }
  const syntax = step.type === 'WEBHOOK' && problems === null ? webhookSyntaxError(step.config) : null;
  if (syntax !== null) {
    const place = `does not parse at line ${syntax.line}, column ${syntax.column}: ${syntax.message}`;
    issues.push(issueOf(step, `config.${syntax.field}`, place));
  }
  return issues;
}

function pathIssues(step: GraphStep, graph: Graph): Issue[] {
  const ways = graph.transitions.filter((way) => way.fromStepId === step.id);
  const issues: Issue[] = [];
  const refuse = (message: string) => issues.push(issueOf(step, 'transitions', message));
  if (step.type === 'EXIT' && ways.length > 0) refuse('an EXIT has no next step');
  if (ways.some((way) => graph.steps.find(({ id }) => id === way.toStepId)?.type === 'TRIGGER'))
    refuse('no step can lead to the TRIGGER');
  if (step.type === 'CONDITION') issues.push(...branchIssues(step, ways));
  else if (step.type === 'WAIT_FOR_EVENT') issues.push(...outcomeIssues(step, ways));
  else if (ways.length > 1) refuse('only conditions and waits can have more than one path');
  return issues;
}

function branchIssues(step: GraphStep, ways: readonly GraphTransition[]): Issue[] {
  return ways.flatMap(({ branch }) => {
    const problem = branch === null ? null : branchProblem(step.config, branch);
    return problem === null ? [] : [issueOf(step, 'transitions', `the branch "${branch}" ${problem}`)];
  });
}

function outcomeIssues(step: GraphStep, ways: readonly GraphTransition[]): Issue[] {
  const timesOut = typeof step.config.timeout === 'number';
  return ways
    .filter((way) => way.waitOutcome === 'TIMEOUT' && !timesOut)
    .map(() => issueOf(step, 'transitions', 'has a path for TIMEOUT but its config has no timeout'));
}
