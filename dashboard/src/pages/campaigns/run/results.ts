import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { answer, api } from '../../../api/client.ts';
import type { components } from '../../../api/schema.d.ts';
import { useProjectId } from '../../../app/address.ts';

/** Loads the results of a campaign over time, by link, and beside those of earlier campaigns. */
export type Results = components['schemas']['ListCampaignResultsResult']['data'];

/** The results of a campaign, fresh while it is sending and now and then afterwards. */
export function useResults(id: string, isSending: boolean) {
  const project = useProjectId();
  return useQuery({
    queryKey: ['campaigns', project, id, 'results', isSending],
    placeholderData: keepPreviousData,
    refetchInterval: isSending ? 5_000 : 30_000,
    queryFn: async () => (await answer(api.GET('/campaigns/{id}/results', { params: { path: { id } } }))).data,
  });
}
