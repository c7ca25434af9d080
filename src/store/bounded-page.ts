import { type Query, raw, sql } from './sql.ts';

const megabyte = 1024 * 1024;
/** Most bytes of `data` that a list answers. */
const mostListedBytes = 8 * megabyte;

// Up to here Postgres keeps a value in its row, and whatever it was compressed from is small enough.
const inlineBytes = 2_000;

/** SQL: how many bytes the JSON text of a column has, about; more than `most` where it surely has. What is small is not opened. */
function sizeOf(column: string, most: number): string {
  return `case when ${column} is null then 0 when pg_column_size(${column}) <= ${inlineBytes} then ${inlineBytes}
    when pg_column_size(${column}) > ${most} then ${most + 1} else octet_length(${column}::text) end`;
}

/** SQL: a column of JSON that may be larger than a list should load, as null where it has more than so many bytes. */
export function jsonWithin(column: string, most: number): string {
  return `case when ${sizeOf(column, most)} <= ${most} then ${column} end`;
}

/** A column of JSON that a list leaves out where it is too large. */
export interface WithOmission<Data> {
  /** Null where it is left out. */
  data: Data | null;
  dataOmitted: boolean;
}

/**
 * SQL of a list whose column `data` stays within what an answer may carry: more than `most` bytes in a row, or more than 8 MB in
 * all rows so far, are left out by the database and never loaded. `rows` answers the rows in order, with `data` and `columns`.
 */
export function boundedPage(rows: Query, columns: string, most: number): Query {
  const fits = raw(
    `size <= ${most} and sum(case when size <= ${most} then size else 0 end) over (order by place) <= ${mostListedBytes}`,
  );
  return sql`with page as materialized (${rows}),
    placed as (select *, row_number() over () as place, ${raw(sizeOf('data', most))} as size from page),
    summed as (select *, ${fits} as fits from placed)
    select ${raw(columns)}, case when fits then data end as data, not fits as "dataOmitted" from summed order by place`;
}
