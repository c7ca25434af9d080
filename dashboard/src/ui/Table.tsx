import type { ReactNode } from 'react';

/** A column of a table. */
export interface Column<Row> {
  key: string;
  title: string;
  number?: boolean;
  cell: (row: Row) => ReactNode;
  /** Set when the list can be sorted by it; the way it is sorted now. */
  sort?: { dir: 'asc' | 'desc' | null; change: () => void };
}

/** A table of rows; it scrolls sideways by itself where the window is narrow. */
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
    <section className="table" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map(({ key, title, number, sort }) => (
              <th
                key={key}
                scope="col"
                className={number ? 'number' : undefined}
                aria-sort={sort?.dir ? (sort.dir === 'asc' ? 'ascending' : 'descending') : undefined}
              >
                {sort ? (
                  <button type="button" className="sort" onClick={sort.change}>
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
            <tr key={rowKey(row)}>
              {columns.map(({ key, number, cell }) => (
                <td key={key} className={number ? 'number' : 'break'}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
