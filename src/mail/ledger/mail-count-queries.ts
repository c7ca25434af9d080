import { firstIdAt, greatestId, leastId } from '../../lib/ids.ts';
import { hourMs, type SqlSpan } from '../../lib/time.ts';
import { countedSpan, tryLockName } from '../../store/columns.ts';
import { type Database, type Query, raw, sql } from '../../store/sql.ts';
import { countsOf, mailCountColumns } from './counting.ts';

/**
 * Mail that was created within some time, and what has become of it since; mail that a rule suppressed or that was cancelled is not in it. Runs of
 * automations that began within that time, and those that ended.
 */
export interface MailCounts {
  outgoing: number;
  incoming: number;
  delivered: number;
  opened: number;
  clicked: number;
  bounced: number;
  /** Mail that reputation is judged by: outgoing, neither failed nor sent to a simulator. */
  rated: number;
  ratedBounced: number;
  ratedComplained: number;
  runsStarted: number;
  runsCompleted: number;
}

const names = {
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
} as const satisfies Record<string, keyof MailCounts>;
type Column = keyof typeof names;
const columns = Object.keys(names) as Column[];
const each = (text: (column: Column) => string, separator = ', ') => raw(columns.map(text).join(separator));

const listed = each((column) => column);
const summed = each((column) => `coalesce(sum(${column}), 0)::float8 as "${names[column]}"`);
const ofMail: ReadonlySet<string> = new Set(mailCountColumns);
const counted = (one: Column) => each((column) => (column === one ? 'count(*)' : '0'));
const scanned = each((column) => (ofMail.has(column) ? `sum(c.${column}) as ${column}` : `0 as ${column}`));

// Counts and the changes that are not folded into them yet, read by one statement and so at one moment.
function kept(projectId: string, from: string, until: string): Query {
  return sql`
    select hour, ${listed} from (
      select project_id, hour, ${listed} from mail_counts
      union all
      select project_id, hour, ${listed} from mail_count_changes) kept
    where project_id = ${projectId} and hour >= ${from}::timestamptz and hour < ${until}::timestamptz`;
}

// The end of a span that is no whole hour: mail and runs by their own instants.
function scannedBetween(projectId: string, from: string, until: string): Query {
  return sql`
    select null, ${scanned} from emails m cross join lateral ${countsOf('m')} c
    where project_id = ${projectId} and created_at >= ${from}::timestamptz and created_at < ${until}::timestamptz
      and id >= ${idAt(timeOf(from) - driftMs)}::uuid and id < ${idAt(timeOf(until) + driftMs)}::uuid
    union all
    select null, ${counted('runs_started')} from automation_runs
    where project_id = ${projectId} and started_at >= ${from}::timestamptz and started_at < ${until}::timestamptz
    union all
    select null, ${counted('runs_completed')} from automation_runs
    where project_id = ${projectId} and completed_at >= ${from}::timestamptz and completed_at < ${until}::timestamptz`;
}

// Mail is found by its id, which is made some moments before or after the transaction that stamps the row begins.
const driftMs = 10 * 60_000;
const idsEnd = 2 ** 48;

function idAt(time: number): string {
  if (time <= 0) return leastId;
  return time < idsEnd ? firstIdAt(new Date(time)) : greatestId;
}

function timeOf(instant: string): number {
  if (instant === 'infinity') return Number.POSITIVE_INFINITY;
  return instant === '-infinity' ? Number.NEGATIVE_INFINITY : Date.parse(instant);
}

/** Mail that was created within a span of hours: whole hours from the counts, the ends from the ledger. */
export async function mailCounts(db: Database, projectId: string, span: SqlSpan): Promise<MailCounts> {
  const { from, first, last, until } = await countedSpan(db, projectId, ['mail', 'runs'], span, hourMs);
  const firstEnd = timeOf(first) < timeOf(until) ? first : until;
  const lastStart = timeOf(last) > timeOf(first) ? last : first;
  const row = await db.row<MailCounts>(sql`
    select ${summed} from (
      ${kept(projectId, first, last)}
      union all ${scannedBetween(projectId, from, firstEnd)}
      union all ${scannedBetween(projectId, lastStart, until)}) part`);
  // An aggregate always answers a row.
  return row as MailCounts;
}

/**
 * How much of the outgoing mail of a span was not given to the provider: mail that waits, and recipients of campaigns that were skipped,
 * failed or are pending. Read from the queue and the counters of campaigns, never from the ledger.
 */
export async function notHandedOver(db: Database, projectId: string, span: SqlSpan): Promise<number> {
  const row = await db.row<{ count: number }>(sql`
    select ((select count(*) from email_queue where project_id = ${projectId} and claim_id is null
        and email_id >= ${idAt(timeOf(span.from))}::uuid and email_id < ${idAt(timeOf(span.until))}::uuid)
      + (select coalesce(sum(greatest(0, total_recipients - sent_count)), 0) from campaigns
        where project_id = ${projectId} and sent_at >= ${span.from}::timestamptz and sent_at < ${span.until}::timestamptz))::float8 as count`);
  return row?.count ?? 0;
}

/** Mail by the day (UTC, `2026-03-01`) it was created on; days without any are left out. */
export function mailByDay(
  db: Database,
  projectId: string,
  from: Date,
  until: Date,
): Promise<(MailCounts & { day: string })[]> {
  return db.rows(sql`
    select (hour at time zone 'UTC')::date::text as day, ${summed} from (
      ${kept(projectId, from.toISOString(), until.toISOString())}) part
    group by 1`);
}

const changesPerFold = 20_000;

/**
 * Folds changes of mail into the counts by hour, in one transaction with what `then` does about projects some of whose mail
 * bounced or was complained about, until none are left. Does nothing while another process folds. Answers how many changes there
 * were.
 */
export async function foldMailChanges(
  db: Database,
  then: (tx: Database, harmed: readonly string[]) => Promise<void>,
  stop?: AbortSignal,
): Promise<number> {
  for (let folded = 0; ; ) {
    const changes = await db.transaction(async (tx) => {
      if (!(await tryLockName(tx, 'mail counts'))) return 0;
      const done = await fold(tx);
      if (done !== null && done.harmed.length > 0) await then(tx, done.harmed);
      return done?.changes ?? 0;
    });
    folded += changes;
    if (changes < changesPerFold || stop?.aborted) return folded;
  }
}

function fold(tx: Database): Promise<{ changes: number; harmed: string[] } | null> {
  return tx.row(sql`
    with gone as materialized (
      delete from mail_count_changes
      where ctid = any(array(select ctid from mail_count_changes limit ${changesPerFold}))
      returning *),
    summed as (
      insert into mail_counts as c (project_id, hour, ${listed})
      select project_id, hour, ${each((column) => `sum(${column})`)} from gone
      where exists (select from projects p where p.id = gone.project_id)
      group by project_id, hour having ${each((column) => `sum(${column}) <> 0`, ' or ')}
      order by project_id, hour
      on conflict (project_id, hour) do update set ${each((column) => `${column} = c.${column} + excluded.${column}`)})
    select (select count(*) from gone)::integer as changes,
      array(select distinct project_id from gone where rated_bounced > 0 or rated_complained > 0) as harmed`);
}
