import { useMutation, useQueryClient } from '@tanstack/react-query';
import { answer, api } from '../../api/client.ts';
import type { operations } from '../../api/schema.d.ts';
import { toast } from '../../ui/toasts.tsx';

/** Settings of a project to change. */
export type Change = NonNullable<operations['updateProject']['requestBody']>['content']['application/json'];

/** Saves settings of a project, and says `done`. */
export function useSaved(id: string, done: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Change) => answer(api.PATCH('/users/@me/projects/{id}', { params: { path: { id } }, body })),
    onSuccess: async () => {
      toast(done);
      await queries.invalidateQueries({ queryKey: ['projects'] });
    },
  });
}
