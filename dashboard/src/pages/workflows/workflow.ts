import type { QueryClient } from '@tanstack/react-query';
import { answer, api } from '../../api/client.ts';
import type { components, paths } from '../../api/schema.d.ts';
import type { Tone } from '../../ui/Badge.tsx';
import { eventText } from '../../words/events.ts';
import { bodyOf, type Graph } from './graph/draft.ts';

/** The body of an answer to a GET of a path. */
export type Reply<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Body } } } };
}
  ? Body
  : never;

/** An automation with its whole graph. */
export type Workflow = Reply<'/workflows/{id}'>;
/** An automation as a list has it. */
export type ListedWorkflow = Reply<'/workflows'>['data'][number];
export type Issue = Workflow['issues'][number];
export type People = Reply<'/workflows/{id}/people'>;
export type Execution = Reply<'/workflows/{id}/executions/{executionId}'>;
/** A version of a graph, which never changes. */
export type Version = Reply<'/workflows/{id}/versions/{version}'>;
/** The new graph that replaces one. */
export type PutGraph = components['schemas']['ReplaceWorkflowGraphRequest'];
export type StepExecution = Execution['stepExecutions'][number];

/** How the states of a run are named and meant. */
export const executionStates: Record<Execution['status'], { name: string; tone?: Tone }> = {
  RUNNING: { name: 'Running', tone: 'info' },
  WAITING: { name: 'Waiting', tone: 'info' },
  COMPLETED: { name: 'Completed', tone: 'good' },
  EXITED: { name: 'Exited' },
  FAILED: { name: 'Failed', tone: 'bad' },
  CANCELLED: { name: 'Canceled', tone: 'warn' },
};

/** How the state of an automation is named and meant. */
export function stateOf({ enabled, pausedAt }: Pick<Workflow, 'enabled' | 'pausedAt'>): {
  tone?: Tone;
  children: string;
} {
  if (pausedAt !== null) return { tone: 'warn', children: 'Paused' };
  return enabled ? { tone: 'good', children: 'Enabled' } : { children: 'Disabled' };
}

/** Whether an execution still goes on. */
export function isActive({ status }: Pick<Execution, 'status'>): boolean {
  return status === 'RUNNING' || status === 'WAITING';
}

/** The key of an automation's graph in the query cache. */
export const workflowKey = (project: string, id: string) => ['workflows', project, id, 'graph'];

/** One automation with its graph. */
export const workflowQuery = (project: string, id: string) => ({
  queryKey: workflowKey(project, id),
  queryFn: () => answer(api.GET('/workflows/{id}', { params: { path: { id } } })),
});

/** Who is where in an automation, and was in the last `days` days or ever; asked again every few seconds while it is looked at. */
export const peopleQuery = (project: string, id: string, days?: number) => ({
  queryKey: ['workflows', project, id, 'people', days ?? 'ever'],
  refetchInterval: 4_000,
  queryFn: () =>
    answer(api.GET('/workflows/{id}/people', { params: { path: { id }, ...(days ? { query: { days } } : {}) } })),
});

/**
 * Replaces the graph of an automation, or says with `dryRun` what that would do.
 * @throws ApiError; its status is 412 when the graph is not of this revision any more
 */
export function putGraph(
  id: string,
  revision: number,
  graph: Graph,
  rest: Pick<PutGraph, 'migrate' | 'rollout' | 'dryRun'>,
  signal?: AbortSignal,
) {
  const params = { path: { id }, header: { 'If-Match': `"${revision}"` } };
  return answer(api.PUT('/workflows/{id}/graph', { params, body: { ...bodyOf(graph), ...rest }, signal }));
}

/** Who made an edit, in words. */
export function editorName(by: Workflow['editedBy']): string {
  return by === null ? 'Someone else' : by.kind === 'user' ? by.email : 'An API key';
}

/** Describes the trigger of an automation in words. */
export function startedBy({ triggerType, triggerConfig }: Pick<Workflow, 'triggerType' | 'triggerConfig'>): string {
  if (triggerType === 'EVENT') return `Event: ${eventText(String(triggerConfig?.eventName ?? ''))}`;
  if (triggerType === 'DATE') return `Date: ${String(triggerConfig?.field ?? '')}`;
  if (triggerType === 'CONTACT_CREATED') return 'Contact created';
  if (triggerType === 'SCHEDULE') return `Schedule ${String(triggerConfig?.schedule ?? '')}`;
  return 'Manual';
}

/** Makes lists and graphs be asked for again. */
export function refreshWorkflows(queries: QueryClient, project: string): Promise<void> {
  return queries.invalidateQueries({ queryKey: ['workflows', project] });
}
