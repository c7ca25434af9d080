import { useQuery } from '@tanstack/react-query';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';

const always = ['email', 'unsubscribeUrl', 'subscribeUrl', 'manageUrl'];

/** What every mail of the project can name: the fields of its contacts, and what every contact has. */
export function useVariables(): readonly string[] {
  const project = useProjectId();
  const fields = useQuery({
    queryKey: ['fields', project],
    queryFn: () => answer(api.GET('/contacts/fields')),
  });
  const custom = (fields.data?.fields ?? []).filter(({ isCustom }) => isCustom);
  return [...custom.map(({ field }) => field.replace(/^data\./, '')), ...always];
}
