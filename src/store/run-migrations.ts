import { setTimeout as sleep } from 'node:timers/promises';
import type { Migration } from '@mikro-orm/migrations';
import type { ClientBase } from 'pg';
import {
  duration,
  type IndexStatement,
  largeTables,
  type MigrationStep,
  migrationSteps,
  type SlowWork,
  statementsOf,
} from './migration-steps.ts';

/** A migration as `migrations/index.ts` lists it. */
export interface ListedMigration {
  name: string;
  class: new (...needs: ConstructorParameters<typeof Migration>) => Migration;
  /** Whether processes of the releases before cannot work after it, so that it runs when all of them are stopped. */
  isExclusive?: boolean;
}

/** How migrations run beside traffic. */
export interface MigrationPace {
  /** Gets a line about what is slow. */
  say(line: string): void;
  /** Tables of at least so many bytes are large. */
  largeBytes: number;
  /** How long a statement waits for a lock before it lets those pass that wait behind it, in milliseconds. */
  lockMs: number;
  /** How often it tries again. */
  lockTries: number;
}

/** How it is done outside of tests: tables below 16 MB are read in a tenth of a second. */
export const usualPace: MigrationPace = {
  say: () => undefined,
  largeBytes: 16 * 2 ** 20,
  lockMs: 2_000,
  lockTries: 200,
};

/**
 * Runs one migration and notes it as executed. It is one transaction, or several steps where a large table is concerned (`migrationSteps`); a
 * step that was committed is noted with it, so that a run that was interrupted continues with the next one.
 */
export async function runMigration(
  client: ClientBase,
  { name, class: Class }: ListedMigration,
  everyPace: MigrationPace,
): Promise<void> {
  const pace = { ...everyPace, say: (line: string) => everyPace.say(`${name}: ${line}`) };
  // Migrations only name their statements; these run here, and not on a connection of the ORM.
  const migration = new Class(...([] as unknown as ConstructorParameters<typeof Migration>));
  await migration.up();
  const statements = statementsOf(migration.getQueries().map(String));
  const done = await progressOf(client, name);
  const steps = migrationSteps(statements, done, await largeTables(client, pace.largeBytes));
  for (const step of steps) {
    const isLast = step === steps.at(-1);
    const note = () => noteProgress(client, name, isLast ? null : step.through, done > 0 || steps.length > 1);
    await announced(step.slow, pace, () => runStep(client, step, note, pace));
  }
  if (steps.length === 0) await noteProgress(client, name, null, done > 0);
}

async function runStep(
  client: ClientBase,
  step: MigrationStep,
  note: () => Promise<void>,
  pace: MigrationPace,
): Promise<void> {
  if (step.kind === 'transaction')
    return inShortLocks(client, pace, async () => {
      // A slow step locks rows or reads, and may wait for them; later steps of the transaction are short.
      if (step.slow !== null) await client.query('set local lock_timeout to 0');
      for (const [place, statement] of step.statements.entries()) {
        await client.query(statement);
        if (place === 0 && step.slow !== null) await client.query(`set local lock_timeout to ${pace.lockMs}`);
      }
      await note();
    });
  const { index, replaces } = step;
  const built = replaces ? { ...index, name: `${index.name}_new` } : index;
  await buildIndex(client, built, pace);
  await inShortLocks(client, pace, async () => {
    if (replaces) {
      await client.query(`drop index if exists ${index.name}`);
      await client.query(`alter index ${built.name} rename to ${index.name}`);
    }
    await note();
  });
}

/**
 * Builds an index while rows are read and written. One that an interrupted run has left invalid is dropped and built again, one that it
 * has finished is kept.
 */
async function buildIndex(
  client: ClientBase,
  { name, unique, on }: IndexStatement,
  pace: MigrationPace,
): Promise<void> {
  // It waits for the transactions that are open, and holds up nobody meanwhile.
  await client.query('set lock_timeout to 0');
  await retried(pace, async () => {
    const { rows } = await client.query<{ valid: boolean }>(
      'select indisvalid as valid from pg_index where indexrelid = to_regclass($1)',
      [name],
    );
    if (rows[0]?.valid) return;
    if (rows.length > 0) await client.query(`drop index concurrently ${name}`);
    await client.query(`create ${unique ? 'unique ' : ''}index concurrently ${name} ${on}`);
  });
}

/**
 * Runs statements in one transaction that waits only briefly for each lock: whoever asks for a table after it waits behind it. Then it
 * starts again.
 */
export async function inShortLocks(client: ClientBase, pace: MigrationPace, work: () => Promise<void>): Promise<void> {
  await retried(pace, async () => {
    await client.query(`begin; set local lock_timeout to ${pace.lockMs}`);
    try {
      await work();
      await client.query('commit');
    } catch (error) {
      await client.query('rollback');
      throw error;
    }
  });
}

async function retried(pace: MigrationPace, work: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      // Lock not available, and deadlock.
      if (!['55P03', '40P01'].includes(String((error as { code?: unknown }).code)) || tries > pace.lockTries)
        throw error;
      if (tries === 1)
        pace.say(`waits for a lock that other transactions hold, and tries again up to ${pace.lockTries} times`);
      // Those that waited behind it come first.
      await sleep(pace.lockMs * (0.5 + Math.random()));
    }
  }
}

async function announced(slow: SlowWork | null, { say }: MigrationPace, work: () => Promise<void>): Promise<void> {
  if (slow === null) return work();
  const began = performance.now();
  say(`${slow.what}: takes ${slow.takes}, beside requests`);
  await work();
  say(`${slow.what}: took ${duration((performance.now() - began) / 1000)}`);
}

// The table is there while a migration of several steps is under way.
async function progressOf(client: ClientBase, name: string): Promise<number> {
  const { rows: tables } = await client.query(`select from pg_class where oid = to_regclass('migration_progress')`);
  if (tables.length === 0) return 0;
  const { rows } = await client.query<{ done: number }>('select done from migration_progress where name = $1', [name]);
  return rows[0]?.done ?? 0;
}

/** Notes how many statements are done; null is all of them. */
async function noteProgress(client: ClientBase, name: string, done: number | null, inSteps: boolean): Promise<void> {
  if (done === null) {
    await client.query('insert into mikro_orm_migrations (name) values ($1)', [name]);
    if (inSteps) await client.query('drop table if exists migration_progress');
    return;
  }
  await client.query('create table if not exists migration_progress (name text primary key, done integer not null)');
  await client.query(
    'insert into migration_progress values ($1, $2) on conflict (name) do update set done = excluded.done',
    [name, done],
  );
}
