import { setTimeout as sleep } from 'node:timers/promises';
import type { Migration } from '@mikro-orm/migrations';
import type { ClientBase } from 'pg';
import type { DatabaseFunction } from '../../migrations/functions.ts';
import {
  duration,
  type IndexStatement,
  largeTables,
  type MigrationStep,
  migrationSteps,
  type SlowWork,
  statementsOf,
} from './migration-steps.ts';
import type { Database } from './sql.ts';

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
      for (const part of await partsOf(client, index.table))
        await client.query(`alter index if exists ${part}_${built.name} rename to ${part}_${index.name}`);
    }
    await note();
  });
}

/**
 * Builds an index while rows are read and written. Postgres cannot do so for a table that is divided: there it is built for each part by itself, and is
 * that of the table once all parts have it. Parts that are made meanwhile have it from the beginning.
 */
async function buildIndex(client: ClientBase, index: IndexStatement, pace: MigrationPace): Promise<void> {
  const parts = await partsOf(client, index.table);
  if (parts.length === 0) return buildOwnIndex(client, index, pace);
  const on = (table: string) => index.on.replace(/^on (?:only )?"?\w+"?/i, `on ${table}`);
  await inShortLocks(client, pace, async () => {
    await client.query(
      `create ${index.unique ? 'unique ' : ''}index if not exists ${index.name} ${on(`only ${index.table}`)}`,
    );
  });
  for (const part of parts) {
    const name = `${part}_${index.name}`;
    await buildOwnIndex(client, { ...index, name, table: part, on: on(part) }, pace);
    await inShortLocks(
      client,
      pace,
      async () => void (await client.query(`alter index ${index.name} attach partition ${name}`)),
    );
  }
}

/** The tables that a divided table consists of; none for any other. */
async function partsOf(client: ClientBase, table: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    'select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = to_regclass($1) order by 1',
    [table],
  );
  return rows.map(({ name }) => name);
}

/** The same for one table. An index that an interrupted run has left invalid is dropped and built again, one that it has finished is kept. */
async function buildOwnIndex(
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

/**
 * Installs the functions whose text is not the one that was installed last; answers their names. The caller holds the lock of the
 * migrator. Each statement is a transaction of its own, which waits for its lock only briefly and is tried again: a trigger locks its table, and
 * nobody may hold two of these locks.
 * @throws FunctionError for the first that cannot be installed
 */
export async function installFunctions(
  client: ClientBase,
  functions: readonly DatabaseFunction[],
  pace: MigrationPace,
): Promise<string[]> {
  const { rows } = await client.query<{ name: string; hash: string }>(
    'select distinct on (name) name, hash from database_functions order by name, installed_at desc',
  );
  const current = new Map(rows.map(({ name, hash }) => [name, hash]));
  const changed = functions.filter(({ name, hash }) => current.get(name) !== hash);
  for (const { name, hash, statements } of changed) {
    try {
      for (const statement of statements)
        await inShortLocks(client, pace, async () => void (await client.query(statement)));
      await client.query(
        `insert into database_functions (name, hash) values ($1, $2)
         on conflict (name, hash) do update set installed_at = clock_timestamp()`,
        [name, hash],
      );
    } catch (cause) {
      throw new FunctionError(`functions/${name}.sql`, cause);
    }
  }
  return changed.map(({ name }) => name);
}

/** A function that could not be installed. */
export class FunctionError extends Error {
  readonly file: string;

  constructor(file: string, cause: unknown) {
    super(`${file} failed`, { cause });
    this.name = 'FunctionError';
    this.file = file;
  }
}

/** Names of functions whose text was never installed in the database. One that was replaced since belongs to a later release. */
export async function missingFunctions(sql: Database, functions: readonly DatabaseFunction[]): Promise<string[]> {
  const rows = await sql.rows<{ name: string; hash: string }>('select name, hash from database_functions');
  const known = new Set(rows.map(({ name, hash }) => `${name} ${hash}`));
  return functions.filter(({ name, hash }) => !known.has(`${name} ${hash}`)).map(({ name }) => name);
}
