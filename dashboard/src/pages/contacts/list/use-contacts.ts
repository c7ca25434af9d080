import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { filterOf, type ListState } from './list.ts';

/** The contacts of a list, page by page, and how many they are. */
export function useContacts(state: ListState) {
  const project = useProjectId();
  const { sort, dir } = state;
  const filter = filterOf(state);
  const contacts = useInfiniteQuery({
    queryKey: ['contacts', project, { filter, sort, dir }],
    initialPageParam: undefined as string | undefined,
    placeholderData: keepPreviousData,
    retry: false,
    queryFn: ({ pageParam, signal }) =>
      answer(
        api.POST('/contacts/search', {
          body: { filter, sort, dir, limit: 100, ...(pageParam === undefined ? {} : { cursor: pageParam }) },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.cursor ?? undefined,
  });
  return {
    contacts,
    rows: contacts.data?.pages.flatMap(({ data }) => data) ?? [],
    total: contacts.data?.pages[0]?.total,
    list: JSON.stringify(filter),
  };
}
