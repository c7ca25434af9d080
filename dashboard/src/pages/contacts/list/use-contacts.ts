import { keepPreviousData } from '@tanstack/react-query';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { usePages } from '../../../app/pages.ts';
import { filterOf, type ListState } from './list.ts';

/** The contacts of a list, page by page, and how many they are. */
export function useContacts(state: ListState) {
  const project = useProjectId();
  const { sort, dir } = state;
  const filter = filterOf(state);
  const contacts = usePages({
    queryKey: ['contacts', project, { filter, sort, dir }],
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
    list: JSON.stringify(filter),
  };
}
