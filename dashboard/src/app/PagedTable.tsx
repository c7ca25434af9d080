import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Button } from '../ui/Button.tsx';
import { Pager } from '../ui/Pager.tsx';
import { type Asked, Empty, Shown } from '../ui/States.tsx';
import { type Column, Table } from '../ui/Table.tsx';
import { useFilters, useProjectId } from './address.ts';

/** A page of a list as the API answers it. */
interface Found<Row> {
  data: readonly Row[];
  page: number;
  totalPages: number;
  total: number;
}

/**
 * The page of a list that the address names, with its filters, for `PagedTable`. `of` begins the query's key, before the project.
 * While `isChanging` says so of an answer, it is asked for again every 3 seconds.
 */
export function usePagedList<Answer extends Found<unknown>>(
  of: string,
  fetchPage: (page: { page: number; pageSize: number }, filters: Filters) => Promise<Answer>,
  isChanging: (answer: Answer) => boolean = () => false,
): UseQueryResult<Answer> {
  const project = useProjectId();
  const [{ dialog: _, page, ...filters }] = useFilters();
  return useQuery({
    queryKey: [of, project, { ...filters, page }],
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data && isChanging(state.data) ? 3_000 : false),
    queryFn: () => fetchPage({ page: Number(page ?? 1), pageSize: 50 }, filters),
  });
}

type Filters = Record<string, string | undefined>;

/**
 * A list in pages, whose place is in the address as `page`. `none` is shown while there is nothing at all; where filters leave
 * nothing over, `noneFits` says so beside a way to take them out.
 */
export function PagedTable<Row extends { id: string }>({
  label,
  query,
  columns,
  none,
  noneFits,
}: {
  label: string;
  query: Asked<Found<Row>>;
  columns: Column<Row>[];
  none: ReactNode;
  noneFits: string;
}) {
  const [{ page: _, dialog: __, ...filters }, change] = useFilters();
  const set = Object.keys(filters);
  const clear = () => change(Object.fromEntries([...set, 'page'].map((name) => [name, undefined])));
  return (
    <Shown query={query}>
      {(found) =>
        found.total === 0 ? (
          set.length > 0 ? (
            <Empty title={noneFits} action={<Button onClick={clear}>Clear filters</Button>} />
          ) : (
            none
          )
        ) : (
          <>
            <Table label={label} rows={found.data} rowKey={({ id }) => id} columns={columns} />
            <Pager found={found} onChange={(page) => change({ page: String(page) })} />
          </>
        )
      }
    </Shown>
  );
}
