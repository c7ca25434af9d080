import { useQuery } from '@tanstack/react-query';
import { answer, api } from '../api/client.ts';
import { useProjectId } from './address.ts';

/** Loads the fields of the project's contacts, once for all that asks for them. */
export function useContactFields() {
  const project = useProjectId();
  return useQuery({
    queryKey: ['contacts', project, 'fields'],
    queryFn: () => answer(api.GET('/contacts/fields')),
  });
}
