import { type Database, sql } from '../../core/database/sql.ts';
import type { Clock } from '../../core/lib/time.ts';

interface State {
  nowMs: number;
  /** Seconds since the reconciler last ran; null when it never has. */
  passAge: number | null;
  /** Seconds for which work of the outbox has waited while none was started, and what an attempt to start it came to. */
  workAge: number | null;
  workError: string | null;
}

const mostClockDifferenceMs = 30_000;
// It runs every minute, and the first one after a start of Temporal may be late.
const longestPassAge = 180;
const longestWorkAge = 60;

/**
 * What is about to go wrong while Postgres and Temporal answer: a clock that differs from that of Postgres, and a Temporal that starts nothing,
 * as when its store cannot write: calls that only read are answered then.
 */
export async function readinessWarnings(db: Database, queuePrefix: string, clock: Clock): Promise<string[]> {
  const asked = clock().getTime();
  const state = await db.row<State>(sql`
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs", pass.age as "passAge", work.age as "workAge",
      work.error as "workError"
    from (values (1)) one
    left join (
      select extract(epoch from now() - seen_at)::float8 as age from temporal_stores where task_queue = ${queuePrefix}) pass on true
    left join (
      select extract(epoch from now() - min(created_at))::float8 as age, max(last_error) as error
      from (
        select created_at, last_error, next_attempt_at from outbox
        where done_at is null and (kind <> 'signal' or workflow_id not like 'automation/%')
        order by next_attempt_at, id limit 100) next
      where (next_attempt_at <= now() or last_error is not null)
        and not exists (select from outbox where done_at > now() - ${longestWorkAge}::int * interval '1 second')) work on true`);
  if (state === null) return [];
  const warnings: string[] = [];
  const differenceMs = (asked + clock().getTime()) / 2 - state.nowMs;
  if (Math.abs(differenceMs) > mostClockDifferenceMs)
    warnings.push(
      `the clock of this process is ${Math.round(Math.abs(differenceMs) / 1000)} s ${differenceMs < 0 ? 'behind' : 'ahead of'} that of Postgres: synchronize both machines`,
    );
  if (state.workAge !== null && state.workAge > longestWorkAge)
    warnings.push(
      `Temporal has started no work for ${minutes(state.workAge)}, although it may answer${state.workError === null ? '' : ` (${state.workError})`}: see whether its store can write`,
    );
  else if (state.passAge !== null && state.passAge > longestPassAge)
    warnings.push(
      `the reconciler has not run for ${minutes(state.passAge)}: no worker runs, or Temporal's store cannot write`,
    );
  return warnings;
}

function minutes(seconds: number): string {
  return seconds < 120 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}
