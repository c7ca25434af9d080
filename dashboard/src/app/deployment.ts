import { queryOptions } from '@tanstack/react-query';
import { answer, api } from '../api/client.ts';

/** The features of this deployment; they change with a restart only. */
export const deployment = queryOptions({
  queryKey: ['config'],
  staleTime: Number.POSITIVE_INFINITY,
  queryFn: () => answer(api.GET('/config')),
});
