import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { useContactFields } from '../../../app/contact-fields.ts';
import { usePages } from '../../../app/pages.ts';
import { searchOf } from '../../../conditions/search.ts';
import { filterOf, type ListState } from './list.ts';

/** The contacts of a list, page by page, how many they are, and the filter that finds exactly them. */
export function useContacts(state: ListState) {
  const project = useProjectId();
  const { sort, dir } = state;
  const known = useContactFields();
  // Asked for once: another number could change the filter of a list whose contacts are selected.
  const size = useQuery({
    queryKey: ['contact-count', project],
    enabled: state.search !== '',
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => (await answer(api.POST('/contacts/search', { body: { limit: 1 } }))).total,
  });
  const texts = (known.data?.fields ?? []).filter(({ isCustom, type }) => isCustom && type === 'string');
  const { condition, fields, left } = searchOf(state.search, {
    condition: state.condition,
    textFields: texts.map(({ field }) => field),
    contacts: size.data ?? Number.POSITIVE_INFINITY,
  });
  const filter = filterOf(condition === null ? state : { ...state, search: '', condition });
  const contacts = usePages({
    queryKey: ['contacts', project, { filter, sort, dir }],
    // A search waits for the names of the fields, so that it does not show fewer contacts at first.
    enabled: state.search === '' || !(known.isPending || size.isPending),
    placeholderData: keepPreviousData,
    retry: false,
    fetchPage: (cursor, signal) =>
      answer(
        api.POST('/contacts/search', {
          body: { filter, sort, dir, limit: 100, ...(cursor === undefined ? {} : { cursor }) },
          signal,
        }),
      ),
  });
  return {
    contacts,
    rows: contacts.data?.pages.flatMap(({ data }) => data) ?? [],
    total: contacts.data?.pages[0]?.total,
    filter,
    fields,
    left,
    list: JSON.stringify(filter),
  };
}
