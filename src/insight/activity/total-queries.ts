import { type Sql, statement } from '../../core/database/sql.ts';
import type { SqlSpan } from '../../core/lib/span.ts';
import { sources } from './types.ts';

// Whole hours come from the counts that workers keep; the parts of hours at the ends are counted by an index, and so is
// what happened in whole hours after the counts were last brought up to date. $2 from, $3 first whole hour, $4 the hour
// that the span ends in, $5 until, $6 which of the sources are asked for.
const parts = sources.flatMap(({ event, rows, at: column }, place) => {
  const asked = `($6::boolean[])[${place + 1}]`;
  if (rows === 'campaigns')
    return `select count(*) from campaigns where ${asked} and project_id = $1 and sent_at >= $2::timestamptz and sent_at < $5::timestamptz`;
  if (rows === 'runs') {
    const count = `runs_${column?.slice(0, -'_at'.length)}`;
    const kept = (table: string) =>
      `select coalesce(sum(${count}), 0) from ${table} where ${asked} and project_id = $1
         and hour >= $3::timestamptz and hour < $4::timestamptz`;
    const scanned = (begin: string, end: string) =>
      `select count(*) from automation_runs where ${asked} and project_id = $1 and ${column} >= ${begin} and ${column} < ${end}`;
    return [
      kept('mail_counts'),
      kept('mail_count_changes'),
      scanned('$2::timestamptz', 'least($3::timestamptz, $5::timestamptz)'),
      scanned('greatest($3::timestamptz, $4::timestamptz)', '$5::timestamptz'),
    ];
  }
  const at = event === null ? 'created_at' : 'mail_at';
  const which = `${asked} and project_id = $1${event === null ? '' : ` and name = '${event}'`}`;
  const counted = (begin: string, end: string) =>
    `select count(*) from events where ${which} and ${at} >= ${begin} and ${at} < ${end}`;
  return [
    counted('$2::timestamptz', 'least($3::timestamptz, $5::timestamptz)'),
    counted('greatest($3::timestamptz, $4::timestamptz)', '$5::timestamptz'),
  ];
});
// One walk over the hours for all kinds.
const counted = `select coalesce(sum(items), 0) from activity_counts
  where project_id = $1 and hour >= $3::timestamptz and hour < $4::timestamptz and kind = any ($7::text[])`;
// What is not counted yet is the end of one index. The upper bound says to the planner that it is little: it would combine
// indexes of everything there is otherwise.
const uncounted = `select count(*) filter (where ($6::boolean[])[1] and created_at >= $3::timestamptz and created_at < $4::timestamptz)
    + count(*) filter (where mail_at >= $3::timestamptz and mail_at < $4::timestamptz and name = any ($7::text[]))
  from events where project_id = $1 and created_at >= (select counted_through from event_counts_state)
    and created_at < timestamptz 'infinity'`;
const ofProject = statement(
  'activity.total',
  `select sum(items)::float8 as total from (${[counted, uncounted, ...parts].join('\n union all ')}) as part (items)`,
);

/** How many items the feed has within a span, by hours. `asked` has one entry for each of `sources`. */
export async function totalOf(sql: Sql, projectId: string, span: SqlSpan, asked: readonly boolean[]): Promise<number> {
  const kinds = sources.flatMap(({ rows, event }, place) =>
    asked[place] && (rows === 'events' || rows === 'mail') ? [event ?? ''] : [],
  );
  const values = [projectId, span.from, span.first, span.last, span.until, asked, kinds];
  return (await sql.row<{ total: number }>(ofProject, values))?.total ?? 0;
}

// Every part is counted by the index that the feed pages through.
const partsOfContact = sources.flatMap(({ event, rows, at: column }, place) => {
  if (rows === 'campaigns') return [];
  const isSent = event === 'email.sent';
  const table = rows === 'runs' ? 'automation_runs' : isSent ? 'emails' : 'events';
  const at = rows === 'runs' ? column : isSent ? 'sent_at' : event === null ? 'created_at' : 'mail_at';
  const name = event === null || isSent ? '' : ` and name = '${event}'`;
  return `select count(*) from ${table} where ($5::boolean[])[${place + 1}] and contact_id = (select id from contact)${name}
    and ${at} >= $3::timestamptz and ${at} < $4::timestamptz`;
});
const ofContact = statement(
  'activity.total_of_contact',
  `with contact as materialized (select id from contacts where id = $2::uuid and project_id = $1)
   select sum(items)::float8 as total from (${partsOfContact.join('\n union all ')}) as part (items)`,
);

/** How many items of one contact the feed has within a span. */
export async function totalOfContact(
  sql: Sql,
  projectId: string,
  contactId: string,
  span: SqlSpan,
  asked: readonly boolean[],
): Promise<number> {
  const values = [projectId, contactId, span.from, span.until, asked];
  return (await sql.row<{ total: number }>(ofContact, values))?.total ?? 0;
}
