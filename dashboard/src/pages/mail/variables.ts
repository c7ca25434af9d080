import type { KnownVariable } from '@fernpost/email-document';
import { useQuery } from '@tanstack/react-query';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';

const always = ['email', 'unsubscribeUrl', 'subscribeUrl', 'manageUrl'];

/** Loads the names of the variables of every mail of the project: built-in ones and the fields of its contacts. */
export function useVariables(): readonly string[] {
  return useKnownVariables().map(({ name }) => name);
}

/** Loads how many contacts the project has; undefined until then. */
export function useContactCount(): number | undefined {
  const project = useProjectId();
  const first = useQuery({
    queryKey: ['contacts', project, 'count'],
    queryFn: () => answer(api.GET('/contacts', { params: { query: { limit: 1 } } })),
  });
  return first.data?.total;
}

/** Loads the variables of the project with the share of contacts that have each. */
export function useKnownVariables(): readonly KnownVariable[] {
  const project = useProjectId();
  const fields = useQuery({
    queryKey: ['fields', project],
    queryFn: () => answer(api.GET('/contacts/fields')),
  });
  const custom = (fields.data?.fields ?? []).filter(({ isCustom }) => isCustom);
  return [
    ...custom.map(({ field, coverage }) => ({ name: field.replace(/^data\./, ''), coverage })),
    ...always.map((name) => ({ name })),
  ];
}
