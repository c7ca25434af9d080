import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { ApiError } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { usePause } from '../../../ui/pause.ts';
import { firstOfEach } from '../../../words/sentences.ts';
import { withoutUntouched } from '../graph/add.ts';
import { type Graph, hasBrokenBody } from '../graph/draft.ts';
import { type Issue, putGraph, type Workflow, workflowKey } from '../workflow.ts';
import type { Editing } from './editing.ts';

/** The problems of a graph that is being edited. */
export interface Check {
  issues: Issue[];
  /** Another reason why it cannot be checked, such as a service that is away. */
  error: unknown;
  isChecking: boolean;
}

/**
 * Checks the edited graph by a dry run of its publishing after each pause of the typing. Steps that nobody has begun to fill in
 * have problems once it `isTried` to publish.
 */
export function useCheck(workflow: Workflow, { graph, revision, changes }: Editing, isTried: boolean): Check {
  const project = useProjectId();
  const queries = useQueryClient();
  const settled = usePause(graph, 500);
  const check = useQuery({
    queryKey: ['workflows', project, workflow.id, 'check', revision, settled],
    enabled: changes > 0,
    gcTime: 0,
    retry: false,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<Issue[]> => {
      try {
        const result = await putGraph(workflow.id, revision, settled, { dryRun: true }, signal);
        return result.dryRun ? withNames(result.issues, result.ids) : [];
      } catch (problem) {
        if (problem instanceof ApiError && problem.status === 422) return problem.fields.map(placeIn(settled));
        throw problem;
      }
    },
  });
  const isStale = check.error instanceof ApiError && check.error.status === 412;
  useEffect(() => {
    if (isStale) void queries.invalidateQueries({ queryKey: workflowKey(project, workflow.id), exact: true });
  }, [isStale, queries, project, workflow.id]);
  const typed = graph.steps
    .filter(hasBrokenBody)
    .map(({ id }) => ({ stepId: id, field: 'config.body', message: 'Enter valid JSON.' }));
  const issues = firstOfEach([...typed, ...(changes === 0 ? workflow.issues : (check.data ?? []))]);
  return {
    issues: isTried ? issues : withoutUntouched(issues, graph, workflow),
    error: changes === 0 || isStale ? null : check.error,
    isChecking: changes > 0 && (check.isFetching || settled !== graph),
  };
}

// New steps are known here by the names that they have until they are published.
function withNames(issues: readonly Issue[], ids: Readonly<Record<string, string>>): Issue[] {
  const nameOf = new Map(Object.entries(ids).map(([name, id]) => [id, name]));
  return issues.map((issue) => ({
    ...issue,
    stepId: issue.stepId === null ? null : (nameOf.get(issue.stepId) ?? issue.stepId),
  }));
}

/** A place of the request, `steps.3.config.url` or `transitions.1`, as one of the graph. */
function placeIn({ steps, transitions }: Graph): (problem: { field: string; message: string }) => Issue {
  return ({ field, message }) => {
    const [, list, n = '', rest = ''] = /^(steps|transitions)\.(\d+)\.?(.*)$/s.exec(field) ?? [];
    if (list === 'steps') return { stepId: steps[Number(n)]?.id ?? null, field: rest || 'config', message };
    if (list === 'transitions')
      return { stepId: transitions[Number(n)]?.fromStepId ?? null, field: 'transitions', message };
    return { stepId: null, field, message };
  };
}
