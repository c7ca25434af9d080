import type { SqlSpan } from '../../lib/time.ts';
import { type Database, join, type Query, raw, sql } from '../../store/sql.ts';
import { sources } from './types.ts';

/**
 * How many items the feed has within a span, by hours. `asked` has one entry for each of `sources`. Whole hours come from
 * the counts that workers keep; the parts of hours at the ends are counted by an index, and so is what happened after the
 * counts were last brought up to date.
 */
export async function totalOf(
  db: Database,
  projectId: string,
  span: SqlSpan,
  asked: readonly boolean[],
): Promise<number> {
  const kinds = sources.flatMap(({ rows, event }, place) =>
    asked[place] && (rows === 'events' || rows === 'mail') ? [event ?? ''] : [],
  );
  const [from, first] = [sql`${span.from}::timestamptz`, sql`${span.first}::timestamptz`];
  const [last, until] = [sql`${span.last}::timestamptz`, sql`${span.until}::timestamptz`];
  const ends = [
    [from, sql`least(${first}, ${until})`],
    [sql`greatest(${first}, ${last})`, until],
  ] as const;
  const parts = sources.flatMap(({ event, rows, at = event === null ? 'created_at' : 'mail_at' }, place) => {
    const own = sql`${asked[place]}::boolean and project_id = ${projectId}`;
    const within = (table: string, column: string, [begin, end]: readonly [Query, Query]) =>
      sql`select count(*) from ${raw(table)} where ${own} and ${raw(column)} >= ${begin} and ${raw(column)} < ${end}`;
    if (rows === 'campaigns') return [within('campaigns', 'sent_at', [from, until])];
    if (rows === 'suppressed')
      return [sql`${within('emails', 'created_at', [from, until])} and suppression is not null`];
    if (rows === 'runs') {
      const kept = ['mail_counts', 'mail_count_changes'].map(
        (table) => sql`
          select coalesce(sum(${raw(`runs_${at.slice(0, -'_at'.length)}`)}), 0) from ${raw(table)}
          where ${own} and hour >= ${first} and hour < ${last}`,
      );
      return [...kept, ...ends.map((end) => within('automation_runs', at, end))];
    }
    const named = event === null ? raw('') : raw(` and name = '${event}'`);
    return ends.map((end) => sql`${within('events', at, end)}${named}`);
  });
  // One walk over the hours for all kinds.
  const counted = sql`select coalesce(sum(items), 0) from activity_counts
    where project_id = ${projectId} and hour >= ${first} and hour < ${last} and kind = any (${kinds}::text[])`;
  // What is not counted yet is the end of one index. The upper bound tells the planner that it is little; otherwise it
  // would combine indexes of the whole table.
  const uncounted = sql`
    select count(*) filter (where ${asked[0]}::boolean and created_at >= ${first} and created_at < ${last})
      + count(*) filter (where mail_at >= ${first} and mail_at < ${last} and name = any (${kinds}::text[]))
    from events where project_id = ${projectId} and created_at >= (select counted_through from event_counts_state)
      and created_at < timestamptz 'infinity'`;
  return sumOf(db, raw(''), [counted, uncounted, ...parts]);
}

/** How many items of one contact the feed has within a span, each part counted by the index that the feed pages through. */
export function totalOfContact(
  db: Database,
  projectId: string,
  contactId: string,
  span: SqlSpan,
  asked: readonly boolean[],
): Promise<number> {
  const parts = sources.flatMap(({ event, rows, at = event === null ? 'created_at' : 'mail_at' }, place) => {
    if (rows === 'campaigns') return [];
    const isSent = event === 'email.sent';
    const isSuppressed = rows === 'suppressed';
    const table = raw(rows === 'runs' ? 'automation_runs' : isSent || isSuppressed ? 'emails' : 'events');
    const column = raw(isSent ? 'sent_at' : isSuppressed ? 'created_at' : at);
    const named = raw(
      isSuppressed ? ' and suppression is not null' : event === null || isSent ? '' : ` and name = '${event}'`,
    );
    return [
      sql`select count(*) from ${table}
        where ${asked[place]}::boolean and contact_id = (select id from contact)${named}
          and ${column} >= ${span.from}::timestamptz and ${column} < ${span.until}::timestamptz`,
    ];
  });
  const contact = sql`with contact as materialized (
    select id from contacts where id = ${contactId}::uuid and project_id = ${projectId})`;
  return sumOf(db, contact, parts);
}

async function sumOf(db: Database, ctes: Query, parts: readonly Query[]): Promise<number> {
  const row = await db.row<{ total: number }>(
    sql`${ctes} select sum(items)::float8 as total from (${join(parts, '\n union all ')}) as part (items)`,
  );
  return row?.total ?? 0;
}
