import { type Database, type Sql, statement } from '../../core/database/sql.ts';
import { firstIdAt } from '../../core/lib/ids.ts';
import type { SqlSpan } from '../../core/lib/span.ts';

/**
 * Mail that was created within some time, and what has become of it since; mail that a rule caught is not in it. Runs of
 * automations that began within that time, and those that ended.
 */
export interface MailCounts {
  outgoing: number;
  incoming: number;
  delivered: number;
  opened: number;
  clicked: number;
  bounced: number;
  /** What reputation is judged by: outgoing mail that neither failed nor went to a simulator. */
  rated: number;
  ratedBounced: number;
  ratedComplained: number;
  runsStarted: number;
  runsCompleted: number;
}

const columns = [
  'outgoing',
  'incoming',
  'delivered',
  'opened',
  'clicked',
  'bounced',
  'rated',
  'rated_bounced',
  'rated_complained',
  'runs_started',
  'runs_completed',
] as const;

const names: Record<(typeof columns)[number], keyof MailCounts> = {
  outgoing: 'outgoing',
  incoming: 'incoming',
  delivered: 'delivered',
  opened: 'opened',
  clicked: 'clicked',
  bounced: 'bounced',
  rated: 'rated',
  rated_bounced: 'ratedBounced',
  rated_complained: 'ratedComplained',
  runs_started: 'runsStarted',
  runs_completed: 'runsCompleted',
};

// The same conditions as those of the triggers that keep the counts.
const out = `source_type <> 'INBOUND' and status <> 'SUPPRESSED'`;
const rated = `${out} and status <> 'FAILED' and not simulated`;
const conditions: Partial<Record<(typeof columns)[number], string>> = {
  outgoing: out,
  incoming: `source_type = 'INBOUND'`,
  delivered: `${out} and delivered_at is not null`,
  opened: `${out} and opened_at is not null`,
  clicked: `${out} and clicked_at is not null`,
  bounced: `${out} and bounced_at is not null`,
  rated,
  rated_bounced: `${rated} and bounced_at is not null`,
  rated_complained: `${rated} and complained_at is not null`,
};

const listed = columns.join(', ');
const summed = columns.map((column) => `coalesce(sum(${column}), 0)::float8 as "${names[column]}"`).join(', ');
const scanned = columns
  .map((column) =>
    column in conditions ? `count(*) filter (where ${conditions[column]}) as ${column}` : `0 as ${column}`,
  )
  .join(', ');
const runs = (column: 'runs_started' | 'runs_completed', at: string, from: string, until: string) => `
  select null, ${columns.map((other) => (other === column ? 'count(*)' : '0')).join(', ')} from automation_runs
  where project_id = $1 and ${at} >= ${from} and ${at} < ${until}`;
const runsAt = (from: string, until: string) =>
  `${runs('runs_started', 'started_at', from, until)} union all ${runs('runs_completed', 'completed_at', from, until)}`;

// Counts and the changes that are not folded into them yet, read by one statement and so at one moment.
const kept = (condition: string) => `
  select hour, ${listed} from mail_counts where project_id = $1 and ${condition}
  union all
  select hour, ${listed} from mail_count_changes where project_id = $1 and ${condition}`;

const within = statement(
  'analytics.mail_counts',
  `select ${summed} from (
     ${kept('hour >= $3::timestamptz and hour < $4::timestamptz')}
     union all
     select null, ${scanned} from emails
     where project_id = $1 and created_at >= $2::timestamptz and created_at < least($3::timestamptz, $5::timestamptz)
       and id >= $6::uuid and id < $7::uuid
     union all
     select null, ${scanned} from emails
     where project_id = $1 and created_at >= greatest($3::timestamptz, $4::timestamptz) and created_at < $5::timestamptz
       and id >= $8::uuid and id < $9::uuid
     union all ${runsAt('$2::timestamptz', 'least($3::timestamptz, $5::timestamptz)')}
     union all ${runsAt('greatest($3::timestamptz, $4::timestamptz)', '$5::timestamptz')}) part`,
);

const nothing = Object.fromEntries(Object.values(names).map((name) => [name, 0])) as unknown as MailCounts;

type Four = [number, number, number, number];

// Mail is found by its id, which is made some moments before or after the transaction that stamps the row begins.
const driftMs = 10 * 60_000;
const idsEnd = 2 ** 48;

function idAt(time: number): string {
  if (time <= 0) return '00000000-0000-0000-0000-000000000000';
  return time < idsEnd ? firstIdAt(new Date(time)) : 'ffffffff-ffff-ffff-ffff-ffffffffffff';
}

function timeOf(instant: string): number {
  if (instant === 'infinity') return Number.POSITIVE_INFINITY;
  return instant === '-infinity' ? Number.NEGATIVE_INFINITY : Date.parse(instant);
}

/** Mail that was created within a span of hours: whole hours from the counts, the ends from the ledger. */
export async function mailCounts(sql: Sql, projectId: string, span: SqlSpan): Promise<MailCounts> {
  const [from, first, last, until] = [span.from, span.first, span.last, span.until].map(timeOf) as Four;
  const values = [
    projectId,
    span.from,
    span.first,
    span.last,
    span.until,
    idAt(from - driftMs),
    idAt(Math.min(first, until) + driftMs),
    idAt(Math.max(first, last) - driftMs),
    idAt(until + driftMs),
  ];
  return (await sql.row<MailCounts>(within, values)) ?? nothing;
}

const byDay = statement(
  'analytics.mail_by_day',
  `select (hour at time zone 'UTC')::date::text as day, ${summed} from (
     ${kept('hour >= $2::timestamptz and hour < $3::timestamptz')}) part
   group by 1`,
);

/** Mail by the day (UTC, `2026-03-01`) it was created on; days without any are left out. */
export function mailByDay(
  sql: Sql,
  projectId: string,
  from: Date,
  until: Date,
): Promise<(MailCounts & { day: string })[]> {
  return sql.rows(byDay, [projectId, from.toISOString(), until.toISOString()]);
}

const tryLock = statement(
  'analytics.fold_lock',
  `select pg_try_advisory_xact_lock(hashtextextended('mail counts', 0)) as locked`,
);

const changesPerFold = 20_000;

const fold = statement(
  'analytics.fold',
  `with gone as materialized (
     delete from mail_count_changes
     where ctid = any(array(select ctid from mail_count_changes limit ${changesPerFold}))
     returning *),
   summed as (
     insert into mail_counts as c (project_id, hour, ${listed})
     select project_id, hour, ${columns.map((column) => `sum(${column})`).join(', ')} from gone
     where exists (select from projects p where p.id = gone.project_id)
     group by project_id, hour having ${columns.map((column) => `sum(${column}) <> 0`).join(' or ')}
     order by project_id, hour
     on conflict (project_id, hour) do update set
       ${columns.map((column) => `${column} = c.${column} + excluded.${column}`).join(', ')})
   select (select count(*) from gone)::integer as changes,
     array(select distinct project_id from gone where rated_bounced > 0 or rated_complained > 0) as harmed`,
);

/** What a fold did. */
interface Fold {
  changes: number;
  /** Projects some of whose mail bounced or was complained about. */
  harmed: string[];
}

/**
 * Folds changes of mail into the counts by hour, in one transaction with what `then` does about them, until none are left.
 * Does nothing while another process folds. Answers how many changes there were.
 */
export async function foldMailChanges(
  db: Database,
  then: (sql: Sql, harmed: readonly string[]) => Promise<void>,
  stop?: AbortSignal,
): Promise<number> {
  for (let folded = 0; ; ) {
    const changes = await db.transaction(async (sql) => {
      if (!(await sql.row<{ locked: boolean }>(tryLock))?.locked) return 0;
      const done = await sql.row<Fold>(fold);
      if (done !== null && done.harmed.length > 0) await then(sql, done.harmed);
      return done?.changes ?? 0;
    });
    folded += changes;
    if (changes < changesPerFold || stop?.aborted) return folded;
  }
}
