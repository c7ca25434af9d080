import { type QueryClient, queryOptions } from '@tanstack/react-query';
import { answer, api } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { runningIn } from '../../app/HoldBanner.tsx';

/** Everything that the overview shows. */
export type Overview = components['schemas']['ProjectOverview'];

/**
 * The overview of a project in one answer, asked for again more often while something is under way or a first step is missing. The
 * banner about mail that is on hold gets its part of it.
 */
export const overviewOf = (project: string, queries: QueryClient) =>
  queryOptions({
    queryKey: ['overview', project],
    refetchInterval: ({ state: { data } }) => (data && isQuiet(data) ? 15_000 : 5_000),
    queryFn: async () => {
      const overview = await answer(api.GET('/projects/{id}/overview', { params: { path: { id: project } } }));
      queries.setQueryData(runningIn(project).queryKey, overview.running);
      return overview;
    },
  });

function isQuiet({ running, hasSent, setup }: Overview): boolean {
  return running.data.length === 0 && hasSent && setup.hasVerifiedDomain && setup.contactCount > 0;
}
