import { queryOptions } from '@tanstack/react-query';
import { answer, api } from '../../api/client.ts';

/** The sender domains of a project. */
export const domainsOf = (project: string) =>
  queryOptions({
    queryKey: ['domains', project],
    queryFn: () => answer(api.GET('/domains/project/{projectId}', { params: { path: { projectId: project } } })),
  });

/** Whether mail may be sent from a domain. */
export function maySend({ verified, approved }: { verified: boolean; approved: boolean }): boolean {
  return verified && approved;
}
