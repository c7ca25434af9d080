import { queryOptions } from '@tanstack/react-query';
import { answer, api } from '../../api/client.ts';

/** How far a project is set up, and where the pages of its deployment are. */
export const setupOf = (project: string) =>
  queryOptions({
    queryKey: ['setup', project],
    queryFn: () => answer(api.GET('/projects/{id}/setup-state', { params: { path: { id: project } } })),
  });
