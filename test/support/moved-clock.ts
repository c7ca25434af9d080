import { WorkflowNotFoundError } from '@temporalio/client';
import { Client } from 'pg';
import { createDateSweep } from '../../src/automations/enrollment/dates.ts';
import { countGoals } from '../../src/automations/runtime/goals.ts';
import { anySeq, signals, workflowId } from '../../temporal/commands.ts';
import { eventually } from '../../tools/local-stack/test/fakes.ts';
import type { TestDatabase } from './database.ts';
import type { TestTemporal } from './worker.ts';

/** The clock of a test's database and of this process, which goes on from wherever it is set. */
export interface MovedClock extends Disposable {
  /** Sets it, but never back. */
  set(at: Date): Promise<void>;
}

// Found before those of Postgres, so that every statement and function of the service asks these.
const moved = `
  create schema moved;
  create table moved.clock (by interval not null);
  insert into moved.clock values ('0');
  create function moved.now() returns timestamptz language sql stable as $$ select pg_catalog.now() + (select by from moved.clock) $$;
  create function moved.clock_timestamp() returns timestamptz language sql volatile as $$ select pg_catalog.clock_timestamp() + (select by from moved.clock) $$;
  create function moved.uuidv7() returns uuid language sql volatile as $$ select pg_catalog.uuidv7((select by from moved.clock)) $$;
  create view moved.pg_stat_activity as
    select a.datname, a.pid, a.application_name, a.backend_type, a.backend_xid, a.wait_event_type, a.query, a.xact_start + c.by as xact_start
    from pg_catalog.pg_stat_activity a, moved.clock c;
  do $$
  declare place record;
  begin
    for place in
      select c.table_schema, c.table_name, c.column_name from information_schema.columns c
        join information_schema.tables t using (table_schema, table_name)
      where c.table_schema = 'public' and c.column_default like '%now()%' and t.table_type = 'BASE TABLE'
    loop
      execute format('alter table %I.%I alter column %I set default moved.now()', place.table_schema, place.table_name, place.column_name);
    end loop;
    execute format('alter database %I set search_path = moved, pg_catalog, public', current_database());
  end $$`;

/**
 * Moves the time of a database that nobody has used yet, and of this process with all that runs in it: API, worker and mail sandbox. Temporal and the browser
 * keep theirs: its timers are as far away as they were, so whoever moves the clock also wakes the executions that are due.
 */
export async function movedClock(database: TestDatabase): Promise<MovedClock> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(moved);
  // Connections that were open have the old path.
  await client.query(
    'select pg_terminate_backend(pid) from pg_catalog.pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  await client.end();
  const RealDate = Date;
  let by = 0;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, values, newTarget) =>
      Reflect.construct(target, values.length === 0 ? [target.now() + by] : values, newTarget),
    apply: (target) => new target(target.now() + by).toString(),
    get: (target, name, receiver) =>
      name === 'now'
        ? () => target.now() + by
        : Reflect.get(target, name, receiver === globalThis.Date ? target : receiver),
  });
  return {
    async set(at) {
      // What has passed meanwhile is no reason to go back.
      const next = Math.max(by, at.getTime() - RealDate.now());
      // The database goes first: what this process finds due would be written with an instant before it.
      await database.db.count(`update moved.clock set by = make_interval(secs => $1)`, [next / 1_000]);
      by = next;
    },
    [Symbol.dispose]() {
      globalThis.Date = RealDate;
    },
  };
}

/** Lets time pass for a whole service whose clock is moved. */
export interface PassingTime {
  /** Everything that is due by now has been done. */
  settled(): Promise<void>;
  /** Goes on to an instant, and stops on the way at each one at which something is due. */
  until(at: Date): Promise<void>;
}

/** @param temporal wakes executions, whose timers go by another clock */
export function passingTime(
  { db }: TestDatabase,
  clock: MovedClock,
  { client }: Pick<TestTemporal, 'client'>,
): PassingTime {
  const stop = new AbortController().signal;
  const horizon = { quietSeconds: 1, longestSeconds: 1 };
  const sweepDates = createDateSweep({ db, clock: () => new Date(), stop, horizon });
  const woken = new Map<string, number>();

  // An execution that is due is told so, and once more where nothing came of it for a while.
  async function wake(): Promise<void> {
    const due = await db.rows<{ automationId: string; contactId: string; entry: number; seq: number }>(
      `select automation_id as "automationId", contact_id as "contactId", entry, seq from automation_runs
       where status in ('RUNNING', 'WAITING') and due_at <= clock_timestamp()`,
    );
    for (const { automationId, contactId, entry, seq } of due) {
      const id = workflowId.automation(automationId, contactId, entry);
      const last = woken.get(`${id} ${seq}`) ?? Number.NEGATIVE_INFINITY;
      if (performance.now() - last < 5_000) continue;
      woken.set(`${id} ${seq}`, performance.now());
      await client.workflow
        .getHandle(id)
        .signal(signals.resume, { seq: anySeq })
        .catch((error: unknown) => {
          if (!(error instanceof WorkflowNotFoundError)) throw error;
        });
    }
  }

  async function settled(): Promise<void> {
    await eventually(async () => {
      await sweepDates();
      await wake();
      // One statement, for what is due moves from one of these to the next: a date that a worker is about to take (the sweep above passes by what it
      // has locked), who enters by it, the run, its mail. A webhook that is being called is due at no instant.
      const left = await db.row<{ count: number }>(
        `select (select count(*) from automation_dates d join automations a on a.id = d.automation_id
             where a.enabled and d.due_at <= clock_timestamp())
           + (select count(*) from automation_arrivals) + (select count(*) from outbox where done_at is null)
           + (select count(*) from automation_runs where status in ('RUNNING', 'WAITING') and due_at <= clock_timestamp())
           + (select count(*) from automation_step_runs
             where status = 'RUNNING' or status = 'WAITING' and resume_event_id is not null)
           + (select count(*) from email_queue where due_at <= clock_timestamp()) as count`,
      );
      return Number(left?.count) === 0;
    });
    await countGoals(db, stop);
  }

  return {
    settled,
    async until(at) {
      for (;;) {
        await settled();
        const next = await db.row<{ at: string | null }>(
          `select min(at) as at from (
             select due_at as at from automation_runs where status in ('RUNNING', 'WAITING')
             union all select due_at from automation_dates
             union all select due_at from email_queue) due
           where at > clock_timestamp() and at <= $1`,
          [at],
        );
        if (!next?.at) break;
        await clock.set(new Date(next.at));
      }
      await clock.set(at);
      await settled();
    },
  };
}
