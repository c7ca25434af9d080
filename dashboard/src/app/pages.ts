import {
  type InfiniteData,
  type QueryKey,
  type UseInfiniteQueryOptions,
  type UseInfiniteQueryResult,
  useInfiniteQuery,
} from '@tanstack/react-query';

type Cursor = string | undefined;

/** A page of a list as the API answers it, with the cursor of the next one; some older lists call it `nextCursor`. */
interface CursorPage {
  cursor?: string | null | undefined;
  nextCursor?: string | null | undefined;
}

type Options<Answer> = Omit<
  UseInfiniteQueryOptions<Answer, Error, InfiniteData<Answer, Cursor>, QueryKey, Cursor>,
  'queryFn' | 'initialPageParam' | 'getNextPageParam'
> & {
  /** Fetches the page of a cursor, the first one for `undefined`. */
  fetchPage: (cursor: Cursor, signal: AbortSignal) => Promise<Answer>;
};

/** A list that is fetched page by page, for `EndlessRows`. */
export function usePages<Answer extends CursorPage>({
  fetchPage,
  ...options
}: Options<Answer>): UseInfiniteQueryResult<InfiniteData<Answer, Cursor>> {
  return useInfiniteQuery({
    ...options,
    initialPageParam: undefined,
    queryFn: ({ pageParam, signal }) => fetchPage(pageParam, signal),
    getNextPageParam: ({ cursor, nextCursor }) => cursor ?? nextCursor,
  });
}
