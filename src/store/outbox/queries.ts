import type { Command } from '../../../temporal/commands.ts';
import { newId } from '../../lib/ids.ts';
import { activeTrace } from '../../lib/telemetry.ts';
import { removePast } from '../columns.ts';
import { type Database, type Query, raw, sql, unprepared } from '../sql.ts';

/** The channel on which a commit with new outbox rows wakes the relays. */
export const outboxChannel = 'fernpost_outbox';

/** Names work that was put into the outbox; give it to `Outbox.dispatchSoon` after the commit. */
export interface OutboxTicket {
  workflowId: string;
}

/**
 * Writes down that a Temporal call must happen, in the caller's transaction. The same start twice is one start.
 * After the commit, `Outbox.dispatchSoon` makes the call at once; whatever that misses, a worker's relay makes.
 */
export async function enqueue(tx: Database, command: Command): Promise<OutboxTicket> {
  await enqueueAll(tx, [command]);
  return { workflowId: command.id };
}

/** `enqueue` for many commands by one statement. */
export async function enqueueAll(tx: Database, commands: readonly Command[]): Promise<OutboxTicket[]> {
  if (commands.length > 0)
    await tx.count(sql`
      with added as (${inserted(commands, 0)})
      select pg_notify('${raw(outboxChannel)}', '') where exists (select from added)`);
  return commands.map((command) => ({ workflowId: command.id }));
}

/**
 * `enqueueAll` for calls that this process makes itself after the commit, by `Outbox.dispatch`. No other process takes the rows before
 * `leaseMs` milliseconds have passed.
 */
export async function enqueueTaken(tx: Database, commands: readonly Command[], leaseMs: number): Promise<TakenRow[]> {
  return commands.length === 0 ? [] : tx.rows<TakenRow>(inserted(commands, leaseMs));
}

function inserted(commands: readonly Command[], leaseMs: number): Query {
  const trace = activeTrace();
  const rows = commands.map((command) => {
    const id = newId();
    return {
      id,
      dedupe_key: dedupeKey(command, id),
      kind: command.type,
      workflow_type:
        command.type === 'start' ? command.workflow : command.type === 'schedule' ? command.launch.workflow : null,
      workflow_id: command.id,
      payload: trace === null ? command : { ...command, trace },
    };
  });
  // The order of ids is the order of dispatch, so a batch keeps the order in which it was given.
  return sql`
    insert into outbox (id, dedupe_key, kind, workflow_type, workflow_id, payload, next_attempt_at)
      select id, dedupe_key, kind, workflow_type, workflow_id, payload,
        clock_timestamp() + make_interval(secs => ${leaseMs}::float8 / 1000)
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (
        id uuid, dedupe_key text, kind text, workflow_type text, workflow_id text, payload jsonb)
      on conflict (dedupe_key) do nothing
      returning id, workflow_id, payload, attempts`;
}

function dedupeKey(command: Command, id: string): string {
  if (command.type === 'start')
    return command.restart === undefined ? `start:${command.id}` : `start:${command.id}:${command.restart}`;
  // A repair may ask for the same revision again, so each of these counts.
  if (command.type === 'schedule' || command.type === 'unschedule') return `${command.type}:${command.id}:${id}`;
  return `${command.type}:${command.id}:${command.dedupeKey ?? id}`;
}

/** An outbox row that this process has taken. */
export interface TakenRow {
  id: string;
  workflow_id: string;
  payload: Command;
  /** How many times the call was refused for a reason of its own. */
  attempts: number;
}

/** `wakes` are signals and cancellations of automations, of which one event or change may cause any number; each project has its share of them (migrations/functions/take_wakes.sql). */
export type Lane = 'wakes' | 'others';

/** A row goes back to the queue: when it is due again and why. */
export interface PutBack {
  id: string;
  delayMs: number;
  error: string;
  /** False when Temporal as a whole was out of reach, which says nothing about the row. */
  counts: boolean;
}

// A signal or cancellation waits for every start of its workflow id, and for what was enqueued before it; a start waits
// for nothing but an earlier start, so the two can never wait for each other.
// That question is a scalar subquery because the planner must not turn it into a join: statistics of this table are
// always out of date, and after a wave of 100,000 rows such a join took two seconds where an index look-up takes none.
// The column holds milliseconds, rounded: a row that is due from now on would otherwise not be due for half of one.
const isDue = raw(`o.done_at is null and o.next_attempt_at <= now()::timestamptz(3)
  and (
    select 1 from outbox e
    where e.done_at is null and e.workflow_id = o.workflow_id and e.id <> o.id
      and case when o.kind = 'start' then e.kind = 'start' and e.id < o.id else e.kind = 'start' or e.id < o.id end
    limit 1) is null`);

// Word for word what the index of the others says.
const isOther = raw(`(o.kind not in ('signal', 'cancel') or o.workflow_id not like 'automation/%')`);

/** Takes up to `limit` rows of a lane that are due, of any process, for `leaseMs` milliseconds. */
export function takeDue(db: Database, lane: Lane, limit: number, leaseMs: number): Promise<TakenRow[]> {
  if (lane === 'wakes') return db.rows(sql`select * from take_wakes(${limit}, ${leaseMs})`);
  return take(db, isOther, limit, leaseMs);
}

/** Takes rows of the lane `others` that are due, for the given workflow ids only. Wakes are left to the relays, which give each project its share. */
export function takeOf(
  db: Database,
  workflowIds: readonly string[],
  limit: number,
  leaseMs: number,
): Promise<TakenRow[]> {
  return take(db, sql`${isOther} and o.workflow_id = any(${workflowIds})`, limit, leaseMs);
}

// A taken row is not due for the length of a lease, so a process that dies with it gives it back by doing nothing.
// It is planned each time: a plan that is kept from when the table was empty reads all of it for each row of the next wave, and ends hours later.
function take(db: Database, which: Query, limit: number, leaseMs: number): Promise<TakenRow[]> {
  return db.rows(
    unprepared(sql`
      with due as (
        select o.id from outbox o where ${isDue} and ${which}
        order by o.next_attempt_at, o.id limit ${limit} for update of o skip locked)
      update outbox o set next_attempt_at = clock_timestamp() + make_interval(secs => ${leaseMs}::float8 / 1000)
        from due where o.id = due.id
        returning o.id, o.workflow_id, o.payload, o.attempts`),
  );
}

/** Marks rows as done. */
export async function finish(db: Database, ids: readonly string[]): Promise<void> {
  await db.count(sql`update outbox set done_at = clock_timestamp() where id = any(${ids})`);
}

/** Gives rows back to the queue. */
export async function putBack(db: Database, rows: readonly PutBack[]): Promise<void> {
  await db.count(sql`
    update outbox o set
        next_attempt_at = clock_timestamp() + make_interval(secs => r."delayMs" / 1000),
        attempts = o.attempts + r.counts::int, last_error = r.error
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (id uuid, "delayMs" float8, error text, counts boolean)
      where o.id = r.id`);
}

/** Removes up to `limit` rows that were done more than `hours` ago; answers how many. */
export function removeDone(db: Database, hours: number, limit: number): Promise<number> {
  return removePast(db, 'outbox', 'done_at', limit, `${hours} hours`);
}

/**
 * Projects with mail that has been due for longer than `olderThanMs` and is claimed by nobody. Jumps from project to
 * project in the index of the queue, so its cost grows with the projects that have mail and not with the mail.
 */
export async function projectsWithWaitingMail(db: Database, olderThanMs: number): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(sql`
    with recursive project as (
      (select project_id from email_queue where claim_id is null order by project_id limit 1)
      union all
      select (select q.project_id from email_queue q
              where q.claim_id is null and q.project_id > p.project_id order by q.project_id limit 1)
      from project p where p.project_id is not null)
    select p.project_id as id from project p
      where exists (select from email_queue q where q.claim_id is null and q.project_id = p.project_id
        and q.due_at <= now() - make_interval(secs => ${olderThanMs}::float8 / 1000))`);
  return rows.map(({ id }) => id);
}

/** For how long mail of a project has been due that nobody has claimed, in milliseconds; null where there is none. */
export async function longestWait(db: Database, projectId: string): Promise<number | null> {
  const row = await db.row<{ ms: number }>(sql`
    select (1000 * extract(epoch from clock_timestamp() - due_at))::float8 as ms from email_queue
    where project_id = ${projectId}::uuid and claim_id is null and due_at <= (select clock_timestamp())
    order by due_at, email_id limit 1`);
  return row?.ms ?? null;
}
