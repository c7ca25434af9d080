import type { InfiniteData } from '@tanstack/react-query';
import { useVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import { type CSSProperties, type KeyboardEvent, memo, type ReactNode, useEffect, useMemo, useRef } from 'react';
import { useWhole } from '../standby/use-part.ts';
import { Button } from './Button.tsx';
import { openRow } from './open-row.ts';
import { Loading, Problem, useArrived } from './States.tsx';

/** The parts of an endless query that the list needs. */
interface Endless<PageOfRows> {
  data: InfiniteData<PageOfRows> | undefined;
  error: unknown;
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => unknown;
  refetch: () => unknown;
}

/**
 * A list of any length: only the rows in sight exist, and the next page is asked for before the end is reached. `rowHeight`
 * is an estimate in pixels; rows are measured as they appear.
 */
export function EndlessRows<PageOfRows, Row>({
  label,
  query,
  rowsOf,
  joined = asTheyAre,
  rowKey,
  rowHeight = 44,
  minWidth,
  head,
  searching,
  empty,
  children,
}: {
  label: string;
  query: Endless<PageOfRows>;
  rowsOf: (page: PageOfRows) => readonly Row[];
  /** Joins rows that belong together across pages. */
  joined?: (rows: readonly Row[]) => readonly Row[];
  rowKey: (row: Row) => string;
  rowHeight?: number;
  /** Least width of the rows but on a phone, where they stack; narrower places scroll sideways. */
  minWidth?: string;
  /** Stays above the rows, such as their columns. */
  head?: ReactNode;
  /** How far a search has come whose pages may have no rows, shown until it finds some. */
  searching?: string | undefined;
  empty: ReactNode;
  children: (row: Row) => ReactNode;
}) {
  const place = useRef<HTMLElement>(null);
  const { data, hasNextPage } = query;
  const rows = useMemo(() => joined(data?.pages.flatMap(rowsOf) ?? []), [data, rowsOf, joined]);
  const virtual = useVirtualizer<HTMLElement, Element>({
    count: rows.length,
    getScrollElement: () => place.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => rowKey(rows[index] as Row),
    ...useExtent(),
  });
  const items = virtual.getVirtualItems();
  const width = { '--rows-width': minWidth ?? '0' } as CSSProperties;
  useNextPage(query, items.at(-1)?.index ?? 0, rows.length);

  const hasArrived = useArrived(data);
  if (!hasArrived || (rows.length === 0 && (query.error || hasNextPage)))
    return <Waiting query={query} searching={searching} />;
  if (rows.length === 0) return empty;
  return (
    <section
      ref={place}
      data-slot="rows"
      className="@container max-h-[calc(100dvh-13rem)] overflow-auto rounded-lg border border-line bg-surface"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1)
      tabIndex={0}
      onKeyDown={(event) => jumpToEnds(event, virtual)}
    >
      {head ? <Head width={width}>{head}</Head> : null}
      <ul className="relative sm:min-w-(--rows-width)" style={{ height: virtual.getTotalSize(), ...width }}>
        {items.map(({ index, key, start }) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the link in the row is what the keyboard uses
          <li
            key={key}
            className="absolute inset-x-0 top-0 border-b border-line px-3 py-2.5 hover:bg-hover [&_a]:font-medium [&_a]:text-ink [&_a]:no-underline [&_a:hover]:underline has-[a[data-main]]:cursor-pointer"
            data-index={index}
            ref={virtual.measureElement}
            aria-setsize={hasNextPage ? -1 : rows.length}
            aria-posinset={index + 1}
            style={{ translate: `0 ${start}px` }}
            onClick={openRow}
          >
            <Inside row={rows[index] as Row} draw={children} />
          </li>
        ))}
      </ul>
      <ListEnd query={query} searching={searching} />
    </section>
  );
}

function Waiting<PageOfRows>({ query, searching }: { query: Endless<PageOfRows>; searching: string | undefined }) {
  const { data, error, refetch, fetchNextPage } = query;
  // A page whose rows are all left out says nothing of the next one.
  if (error) return <Problem error={error} again={() => void (data === undefined ? refetch() : fetchNextPage())} />;
  return <Loading {...(data !== undefined && searching ? { what: searching } : {})} />;
}

const asTheyAre = <Row,>(rows: readonly Row[]) => rows;

/** What is in a row, which is not drawn again when the list scrolls or measures its rows. */
const Inside = memo(({ row, draw }: { row: unknown; draw: (row: never) => ReactNode }) => draw(row as never));

/**
 * How much of a list is drawn: before it is measured by the height that it has at most, so that its first rows are drawn once, and the
 * number of rows beyond those in sight, at either end.
 */
const useExtent = () => ({
  initialRect: { width: 0, height: window.innerHeight - 208 },
  overscan: useWhole() ? 12 : 1,
});

function Head({ width, children }: { width: CSSProperties; children: ReactNode }) {
  return (
    <div
      className="sticky top-0 z-1 border-b border-line bg-sunken px-3 py-2 text-xs font-medium text-muted sm:min-w-(--rows-width)"
      style={width}
    >
      {children}
    </div>
  );
}

/** Asks for the next page before the end is seen; after a failure it is for the person to ask again. */
function useNextPage<PageOfRows>(query: Endless<PageOfRows>, lastSeen: number, rows: number): void {
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  const asksByItself = hasNextPage && !isFetchingNextPage && !query.error;
  useEffect(() => {
    if (asksByItself && lastSeen >= rows - 10) void fetchNextPage();
  }, [asksByItself, fetchNextPage, lastSeen, rows]);
}

function ListEnd<PageOfRows>({
  query,
  searching = 'Loading more',
}: {
  query: Endless<PageOfRows>;
  searching?: string | undefined;
}) {
  const { error, hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  return (
    <>
      {error ? <Problem error={error} again={() => void fetchNextPage()} /> : null}
      {isFetchingNextPage ? <Loading what={searching} /> : null}
      {hasNextPage && !isFetchingNextPage ? (
        <Button size="small" variant="plain" onClick={() => void fetchNextPage()}>
          Load more
        </Button>
      ) : null}
    </>
  );
}

/**
 * Home and End go there at once. The browser's own way there is an animation, which is lost when rows that appear on the
 * way turn out higher or lower than was estimated. The end moves with them, so the list follows it until they are measured.
 */
function jumpToEnds(event: KeyboardEvent<HTMLElement>, virtual: Virtualizer<HTMLElement, Element>): void {
  if (event.target !== event.currentTarget || (event.key !== 'Home' && event.key !== 'End')) return;
  event.preventDefault();
  if (event.key === 'Home') virtual.scrollToOffset(0);
  else virtual.scrollToIndex(virtual.options.count - 1, { align: 'end' });
}
