import { queryOptions } from '@tanstack/react-query';
import { answer, api } from '../api/client.ts';

/** What this deployment offers; it changes with a restart only. */
export const deployment = queryOptions({
  queryKey: ['config'],
  staleTime: Number.POSITIVE_INFINITY,
  queryFn: () => answer(api.GET('/config')),
});
