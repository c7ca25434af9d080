import type { ReactNode } from 'react';
import { openRow } from './open-row.ts';

/** A column of a table. */
export interface Column<Row> {
  key: string;
  title: string;
  number?: boolean;
  cell: (row: Row) => ReactNode;
  /** Set when the list can be sorted by it; the way it is sorted now. */
  sort?: { dir: 'asc' | 'desc' | null; change: () => void };
}

/** Classes of a table, also of one that is written by hand. */
export const tableClass =
  '[&_th]:border-b [&_th]:border-line [&_th]:bg-sunken [&_th]:px-3 [&_th]:py-2 [&_th]:text-xs [&_th]:font-medium [&_th]:whitespace-nowrap [&_th]:text-muted [&_td]:border-b [&_td]:border-line [&_td]:px-3 [&_td]:py-2 [&_td]:align-top [&_td_a]:font-medium [&_td_a]:text-ink [&_td_a]:no-underline [&_td_a:hover]:underline [&_tbody_tr:hover]:bg-hover [&_tbody_tr:last-child_td]:border-b-0';

const stacked =
  'max-sm:block max-sm:[&_thead]:sr-only max-sm:[&_tbody]:block max-sm:[&_tr]:block max-sm:[&_tr]:border-b max-sm:[&_tr]:border-line max-sm:[&_tr]:py-2 max-sm:[&_tr:last-child]:border-b-0 max-sm:[&_td]:grid max-sm:[&_td]:grid-cols-[5.5rem_minmax(0,1fr)] max-sm:[&_td]:border-b-0 max-sm:[&_td]:text-start max-sm:[&_td]:py-1 max-sm:[&_td]:before:text-sm max-sm:[&_td]:before:text-muted max-sm:[&_td]:before:content-[attr(data-title)] max-sm:[&_td:empty]:hidden max-sm:[&_td:has(>div:only-child:empty)]:hidden max-sm:[&_td>div]:w-auto max-sm:[&_td>div]:max-w-none';

/**
 * A table of rows; it scrolls sideways by itself where the window is narrow. On a phone each row is a block of its own, with the titles
 * beside the values.
 */
export function Table<Row extends object>({
  label,
  columns,
  rows,
  rowKey,
}: {
  label: string;
  columns: Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1)
    <section className="overflow-x-auto rounded-lg border border-line bg-surface" aria-label={label} tabIndex={0}>
      <table className={`${tableClass} ${stacked}`}>
        <thead>
          <tr>
            {columns.map(({ key, title, number, sort }) => (
              <th
                key={key}
                scope="col"
                className={number ? 'number' : 'text-start'}
                aria-sort={sort?.dir ? (sort.dir === 'asc' ? 'ascending' : 'descending') : undefined}
              >
                {sort ? (
                  <button type="button" className="cursor-pointer" onClick={sort.change}>
                    {title} {sort.dir ? (sort.dir === 'asc' ? '↑' : '↓') : ''}
                  </button>
                ) : (
                  title
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)} className="has-[td:first-child_a[href^='/app/']]:cursor-pointer" onClick={openRow}>
              {columns.map(({ key, title, number, cell }) => (
                <td key={key} className={number ? 'number' : undefined} data-title={title}>
                  {number ? cell(row) : <div className="break w-max max-w-80">{cell(row)}</div>}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
