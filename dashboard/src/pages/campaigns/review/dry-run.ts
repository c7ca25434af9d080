import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ApiError, answer, api } from '../../../api/client.ts';
import type { components } from '../../../api/schema.d.ts';
import { useProjectId } from '../../../app/address.ts';

/** The report of a dry run. */
export type DryRun = components['schemas']['GetCampaignDryRunResult']['data'];

/** The latest dry run of a campaign, null before the first; it is read again until it ends. `start` begins another. */
export function useDryRun(campaign: string) {
  const project = useProjectId();
  const queries = useQueryClient();
  const queryKey = ['campaigns', project, campaign, 'dry-run'];
  const latest = useQuery({
    queryKey,
    refetchInterval: ({ state }) => (state.data?.state === 'RUNNING' ? 1_000 : false),
    queryFn: async (): Promise<DryRun | null> => {
      const path = { id: campaign, n: 'latest' };
      try {
        return (await answer(api.GET('/campaigns/{id}/dry-runs/{n}', { params: { path } }))).data;
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      }
    },
  });
  const start = useMutation({
    mutationFn: (sample: 'all' | number) =>
      answer(api.POST('/campaigns/{id}/dry-run', { params: { path: { id: campaign } }, body: { sample } })),
    onSuccess: async ({ data }) => {
      // An answer from before the start would hide the new run.
      await queries.cancelQueries({ queryKey });
      queries.setQueryData(queryKey, data);
    },
  });
  return { latest, start };
}
