import { defineEntity, UnderscoreNamingStrategy } from '@mikro-orm/core';
import { firstIdAt, greatestId, newId } from '../lib/ids.ts';
import { dayAt, dayMs, type SqlSpan } from '../lib/time.ts';
import { type Database, type Query, raw, sql } from './sql.ts';

const suffixes = { primary: 'pkey', unique: 'key', foreign: 'fkey', check: 'check' } as const;

/** Names as Postgres gives them itself: `users_email_key`, `memberships_user_id_fkey`. A column that names a row is the property's name. */
export class PostgresNames extends UnderscoreNamingStrategy {
  override joinKeyColumnName(propertyName: string): string {
    return this.propertyToColumnName(propertyName);
  }

  override indexName(
    table: string,
    columns: string[],
    type: Parameters<UnderscoreNamingStrategy['indexName']>[2],
  ): string {
    const suffix = type in suffixes ? suffixes[type as keyof typeof suffixes] : type;
    return type === 'primary' ? `${table}_${suffix}` : `${[table, ...columns].join('_')}_${suffix}`;
  }
}

const p = defineEntity.properties;

/** The columns of every entity: a UUID v7 made here, and when the row was created and last changed. */
export const baseColumns = {
  id: p
    .uuid()
    .primary()
    .onCreate(() => newId()),
  createdAt: p
    .datetime(3)
    .defaultRaw('now()')
    .onCreate(() => new Date()),
  updatedAt: p
    .datetime(3)
    .defaultRaw('now()')
    .onCreate(() => new Date())
    .onUpdate(() => new Date()),
};

/**
 * Postgres's text form of an instant in UTC (`2026-01-15 10:30:00.123+00`) as ISO 8601 with milliseconds and `Z`.
 * Parsing into `Date` objects would make a page of rows several times slower, so the text is cut instead.
 */
export function isoInstant(text: string): string {
  const dot = text.indexOf('.');
  const seconds = text.slice(0, 19).replace(' ', 'T');
  const fraction = dot === -1 ? '' : (/^\d+/.exec(text.slice(dot + 1))?.[0] ?? '');
  return `${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}Z`;
}

/** `isoInstant` for a column that may be null. */
export function isoInstantOrNull(text: string | null): string | null {
  return text === null ? null : isoInstant(text);
}

/** An instant column as ISO text with milliseconds and `Z`, as events carry it. */
export function isoText(column: string): string {
  return `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

/** Deletes up to `limit` rows whose instant in `column` is past, by `age` at least; returns how many. For sweeps, which repeat it. */
export function removePast(db: Database, table: string, column: string, limit: number, age = '0'): Promise<number> {
  return removeSome(db, table, sql`${raw(column)} < now() - ${age}::interval`, limit);
}

/** Deletes up to `limit` of the rows of a table that fit, in any order; returns how many. For sweeps, which repeat it. */
export function removeSome(db: Database, table: string, which: Query, limit: number): Promise<number> {
  return db.count(sql`
    delete from ${raw(table)} where ctid = any(array(select ctid from ${raw(table)} where ${which} limit ${limit}))`);
}

/** Rows that retention removes by their age, with their sums left as they are, by the column of a project with its own days; runs are those of automations. */
const agingRows = {
  mail: 'email_retention_days',
  events: 'event_retention_days',
  runs: 'execution_retention_days',
} as const;
type AgingRows = keyof typeof agingRows;

/** How many days rows are kept. */
export interface Retention {
  /** By the deployment; null for ever. Projects may have them kept shorter. */
  days: number | null;
  /** At least, whatever a project asks for. */
  leastDays: number;
}

const rowsPerWalk = 1_000;
// What is left then is removed by the next run of the schedule.
const longestWalkMs = 120_000;

/**
 * Removes mail, events or ended runs that are older than the deployment or their project keeps them, to a whole day in UTC, so that counts by the hour and
 * by the day are about all of their rows or none. Goes on where it ended the last time; ends when nothing old is left, `limit` rows are removed or two
 * minutes are over. Rows that are kept longest are looked at below the ID `through` alone: the others go with the part of the table that they are in.
 * Answers how many.
 */
export async function removeByAge(
  db: Database,
  rows: AgingRows,
  { days, leastDays }: Retention,
  now: Date,
  limit: number,
  through = greatestId,
): Promise<number> {
  const end = performance.now() + longestWalkMs;
  const column = raw(agingRows[rows]);
  // Projects choose from few numbers, so these are few walks.
  const shorter = await db.rows<{ own: number }>(sql`
    select distinct ${column} as own from projects where ${column} < coalesce(${days}::integer, 2147483647) order by 1`);
  const walks = shorter.map(({ own }) => ({ kept: Math.max(own, leastDays), own: own as number | null }));
  if (days !== null) walks.unshift({ kept: days, own: null });
  const longest = Math.max(...walks.map(({ kept }) => kept));
  let removed = 0;
  for (const { kept, own } of walks) {
    const cutoff = dayAt(now, -kept);
    const month = new Date(Date.UTC(cutoff.getUTCFullYear(), cutoff.getUTCMonth()));
    const last = kept === longest ? through : greatestId;
    for (let walked = rowsPerWalk; walked === rowsPerWalk; ) {
      const step = await db.row<{ walked: number; removed: number }>(sql`
        select walked, removed from ${raw(`remove_old_${rows}`)}(${cutoff.toISOString()}::timestamptz, least(${firstIdAt(cutoff)}::uuid, ${last}::uuid),
          least(${firstIdAt(month)}::uuid, ${last}::uuid), ${rowsPerWalk}, ${own}::integer)`);
      removed += step?.removed ?? 0;
      walked = step?.walked ?? 0;
      if (removed >= limit || performance.now() > end) return removed;
    }
  }
  return removed;
}

/** Lets the walk for projects that keep rows so many days begin again: one of them has older rows that it has passed. */
export async function walkAgain(tx: Database, rows: AgingRows, own: number): Promise<void> {
  await tx.count(sql`delete from retention_cursors where rule = ${`${rows} ${own}`}`);
}

/** The instant before which some of these rows of a project may be gone because of their age; null where none were removed. */
export async function removedBefore(db: Database, projectId: string, ...rows: AgingRows[]): Promise<Date | null> {
  const row = await db.row<{ at: string | null }>(
    sql`select max(removed_before(kind, ${projectId}::uuid))::text as at from unnest(${rows}::text[]) kind`,
  );
  return row?.at ? new Date(row.at) : null;
}

/** A span with those ends moved outwards to whole hours or days (`unitMs`) whose rows are gone: what happened then is known by counts alone. */
export async function countedSpan(
  db: Database,
  projectId: string,
  rows: AgingRows[],
  span: SqlSpan,
  unitMs: number,
): Promise<SqlSpan> {
  const { from, until } = span;
  // Nothing is removed that is younger, and -infinity has no part of an hour.
  if (![from, until].some((at) => Date.parse(at) < Date.now() - 31 * dayMs)) return span;
  const before = await removedBefore(db, projectId, ...rows);
  const isGone = (at: string) => before !== null && Date.parse(at) < before.getTime();
  const whole = (at: string, round: (units: number) => number) =>
    new Date(round(Date.parse(at) / unitMs) * unitMs).toISOString();
  const begins = isGone(from) ? whole(from, Math.floor) : null;
  const ends = isGone(until) ? whole(until, Math.ceil) : null;
  return { from: begins ?? from, first: begins ?? span.first, until: ends ?? until, last: ends ?? span.last };
}

/** Takes a lock by a name until the transaction ends, and waits for whoever has it: what stands under it happens one after the other. */
export async function lockName(tx: Database, name: string): Promise<void> {
  await tx.row(sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`);
}

/** Takes a lock by a name until the transaction ends; false where somebody else has it. */
export async function tryLockName(tx: Database, name: string): Promise<boolean> {
  const lock = await tx.row<{ taken: boolean }>(
    sql`select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as taken`,
  );
  return lock?.taken === true;
}

/**
 * Locks a row until the transaction ends against everybody who changes it; others may go on referring to it. Returns false where there is
 * none and, where it does not `wait`, while somebody else has it locked.
 */
export async function lockRow(tx: Database, table: string, id: string, wait = true): Promise<boolean> {
  const locked = await tx.row(sql`
    select from ${raw(table)} where id = ${id} for no key update ${raw(wait ? '' : 'skip locked')}`);
  return locked !== null;
}

/** Notes that a report of this source was received, in the transaction that applies it; false for one that was received before. */
export async function noteReceipt(tx: Database, source: string, key: string): Promise<boolean> {
  return (
    (await tx.count(sql`
      insert into webhook_receipts (source, key) values (${source}, ${key}) on conflict do nothing`)) > 0
  );
}
