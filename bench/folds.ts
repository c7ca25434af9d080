import { countNewEvents } from '../src/contacts/events/counting-queries.ts';
import { foldMailChanges } from '../src/mail/ledger/mail-count-queries.ts';
import type { Database } from '../src/store/sql.ts';
import { median } from './support/automation-bench.ts';
import { cpuOfServers } from './support/processes.ts';
import { benchServices, benchStore } from './support/services.ts';

const rows = Number(process.env.BENCH_ROWS ?? 1_000_000);
const rounds = Number(process.env.BENCH_ROUNDS ?? 3);
const projectCounts = [1, 500];

/** A fold: what waits for it, and how it is done. It is done when it answers how many rows there were. */
interface Fold {
  what: string;
  fill(db: Database): Promise<unknown>;
  fold(db: Database): Promise<number>;
}

const folds: Fold[] = [
  { what: 'changes of mail', fill: fillChanges, fold: (db) => foldMailChanges(db, async () => undefined) },
  { what: 'events', fill: fillEvents, fold: countNewEvents },
];

/**
 * How many changes of mail and how many events a second one fold brings into the counts by the hour, by the processor time that Postgres takes: there
 * is one fold of each in a deployment, and it works on one connection. All rows wait when it begins, of one project and of many.
 */
export async function benchFolds(): Promise<void> {
  await using services = await benchServices({ temporal: false });
  await using store = await benchStore(services.databaseUrl, 2);
  const { db } = store;
  console.log(`\nFolds: ${rows.toLocaleString('en')} rows that wait, ${rounds} rounds, Postgres as shipped`);
  for (const { what, fill, fold } of folds)
    for (const projects of projectCounts) {
      await fillProjects(db, projects);
      const cpu: number[] = [];
      const took: number[] = [];
      for (let round = 0; round < rounds; round += 1) {
        await fill(db);
        await db.rows('vacuum analyze events, mail_count_changes, mail_counts, event_counts, activity_counts');
        await db.rows('checkpoint');
        const before = await cpuOfPostgres(db);
        const began = performance.now();
        const folded = await fold(db);
        took.push(performance.now() - began);
        cpu.push((1e6 * ((await cpuOfPostgres(db)) - before)) / rows);
        if (folded !== rows) throw new Error(`${folded} ${what} were folded of ${rows}`);
      }
      const [each, lasted] = [median(cpu), median(took)];
      console.log(
        `  ${what.padEnd(16)} of ${String(projects).padStart(3)} projects: ${each.toFixed(1)} µs of Postgres each, ${(1e6 / each).toFixed(0)} a second of one core; took ${(lasted / 1000).toFixed(1)} s`,
      );
    }
}

async function cpuOfPostgres(db: Database): Promise<number> {
  const { Postgres } = await cpuOfServers(db);
  if (Postgres === undefined) throw new Error('Postgres must run on this machine');
  return Postgres;
}

/** Empties what is measured, and makes so many projects. */
async function fillProjects(db: Database, count: number): Promise<void> {
  await db.rows(
    'truncate projects, events, event_counts, activity_counts, mail_count_changes, mail_counts cascade; update event_counts_state set counted_through = now()',
  );
  await db.rows(
    `insert into projects (id, name, public_key_hash, secret_key_hash, public_key_sealed, secret_key_sealed)
     select uuidv7(), 'Project ' || n, convert_to('p' || n, 'UTF8'), convert_to('s' || n, 'UTF8'), '', '' from generate_series(1, $1::int) n`,
    [count],
  );
}

// Which project a row is of, and what else differs from row to row, comes of its number.
const numbered = `
  (select n, hashint8extended(n, 7) & 2147483647 as h from generate_series(1, $1::int) n) numbered
  join (select id as project_id, row_number() over (order by id) - 1 as place, count(*) over () as projects from projects) p on p.place = h % p.projects`;

/** Changes as reports make them: of mail of the last hour, and of every third one of the last three days. */
function fillChanges(db: Database): Promise<unknown> {
  return db.rows(
    `insert into mail_count_changes (project_id, hour, delivered, opened)
     select project_id, date_bin('1 hour', now() - case when n % 3 = 0 then h / 1000 % 72 * interval '1 hour' else interval '0' end, timestamptz 'epoch'),
       (n % 3 > 0)::int, (n % 3 = 0)::int
     from ${numbered}`,
    [rows],
  );
}

/** Events of the last ten minutes, three names of mail and one of the customer's own. */
async function fillEvents(db: Database): Promise<void> {
  await db.rows('truncate events');
  await db.rows(
    `insert into events (id, project_id, contact_id, email_id, name, created_at, mail_at)
     select uuidv7(), project_id, uuidv7(), uuidv7(), (array['email.sent', 'email.delivery', 'email.open', 'heron seen'])[1 + n % 4],
       now() - interval '11 minutes' + n::float8 / $1::int * interval '10 minutes',
       case when n % 4 < 3 then now() - interval '11 minutes' - case when n % 4 = 2 then h / 1000 % 72 * interval '1 hour' else interval '0' end end
     from ${numbered}`,
    [rows],
  );
  await db.rows('update event_counts_state set counted_through = (select min(created_at) from events)');
}

if (import.meta.main) await benchFolds();
