import { readdirSync } from 'node:fs';
import { applicationPrefix, databaseNames } from '@fernpost/earlier-name';
import type { ClientBase } from 'pg';
import { type DatabaseFunction, databaseFunctions } from '../../migrations/functions.ts';
import { missingFunctions } from './run-migrations.ts';
import type { Database } from './sql.ts';

/** Processes of another release are connected, and cannot work beside the functions that would be installed. */
export class ReleaseRunsError extends Error {
  override name = 'ReleaseRunsError';
}

/** @throws ReleaseRunsError while processes are connected that were started before a migration that they cannot work with */
export function refuseBesideRunning(client: ClientBase, migration: string): Promise<void> {
  return refuseBeside(
    client,
    'fernpost-(api|worker|smtp)$',
    'an earlier release',
    `they cannot work with ${migration}`,
  );
}

// Functions read settings that the release sets. Under another name they are not found: contacts that are moved to the trash would lose
// their history.
const lossBeside = 'its processes would lose contact history beside the functions of the other one';

/** @throws ReleaseRunsError while processes of the release with the earlier name are connected to the database */
export function refuseBesideEarlier(client: ClientBase): Promise<void> {
  return refuseBeside(client, applicationPrefix, 'the earlier release', lossBeside);
}

/** @throws ReleaseRunsError while processes of this release are connected to the database */
export function refuseBesideCurrent(client: ClientBase): Promise<void> {
  return refuseBeside(client, 'fernpost-', 'this release', lossBeside);
}

// `names` is how the names of their connections begin: a regular expression.
async function refuseBeside(client: ClientBase, names: string, release: string, why: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select distinct application_name as name from pg_stat_activity
      where datname = current_database() and application_name ~ ('^' || $1) and application_name <> 'fernpost-migrate'
      order by 1`,
    [names],
  );
  if (rows.length > 0)
    throw new ReleaseRunsError(
      `${rows.map(({ name }) => name).join(', ')} of ${release} still run: ${why}. Stop them, then run this again; --force does not wait for them. Nothing was changed.`,
    );
}

/** Whether the functions in the database are those of the release with the earlier name. */
export async function hasEarlierFunctions(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>(
    `select exists (select from pg_proc where pronamespace = current_schema()::regnamespace and strpos(prosrc, $1) > 0) as found`,
    [`'${databaseNames.setting}`],
  );
  return rows[0]?.found === true;
}

/** Forgets that functions with other texts were ever installed, so that processes of the release that has them are not ready. */
export async function forgetOtherFunctions(client: ClientBase, kept: readonly DatabaseFunction[]): Promise<void> {
  await client.query(
    `delete from database_functions f where not exists (
       select from unnest($1::text[], $2::text[]) as kept (name, hash) where (kept.name, kept.hash) = (f.name, f.hash))`,
    [kept.map(({ name }) => name), kept.map(({ hash }) => hash)],
  );
}

const lookAtServer = `
  select pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as "readOnly",
    to_regclass('mikro_orm_migrations') is not null as "hasSchema"`;

/**
 * Why this release cannot work on the database, with what to do about it; null when it can. Rejects when Postgres does not answer.
 * `newerIsFine` overlooks migrations of a later release.
 */
export async function databaseProblem(sql: Database, newerIsFine: boolean): Promise<string | null> {
  const server = await sql.row<{ readOnly: boolean; hasSchema: boolean }>(lookAtServer);
  if (server?.hasSchema !== true) return 'the database has no schema: run npm run migrate';
  const applied = await sql.rows<{ name: string }>('select name from mikro_orm_migrations order by name');
  const problem = schemaProblem(
    applied.map(({ name }) => name),
    migrationNames(),
    newerIsFine,
  );
  if (problem !== null) return problem;
  const [missing] = await missingFunctions(sql, databaseFunctions());
  if (missing !== undefined)
    return `the functions are older than this release: ${missing} is not installed. Run npm run migrate`;
  if (server.readOnly) return 'the server is read-only: DATABASE_URL must name the primary, not a standby';
  return null;
}

const migrationsFolder = new URL('../../migrations/', import.meta.url);
let names: string[] | undefined;

/** Names of the migrations of this release, which are those of their files: loading all of them takes time at each start. */
export function migrationNames(): readonly string[] {
  names ??= readdirSync(migrationsFolder)
    .filter((file) => /^Migration\d+_\w+\.ts$/.test(file))
    .map((file) => file.slice(0, -'.ts'.length))
    .toSorted();
  return names;
}

/** Compares the names of migrations that were applied with those of this release. */
export function schemaProblem(
  applied: readonly string[],
  known: readonly string[],
  newerIsFine: boolean,
): string | null {
  const missing = known.filter((name) => !applied.includes(name));
  const [first] = missing;
  if (first !== undefined)
    return `the schema is older than this release: ${first}${others(missing)} not applied. Run npm run migrate`;
  const [unknown] = applied.filter((name) => !known.includes(name)).slice(-1);
  if (unknown === undefined || newerIsFine) return null;
  return newerSchema(unknown);
}

/** Returns the message about a migration that only a later release knows. */
export function newerSchema(name: string): string {
  return `the schema is newer than this release: ${name} is unknown here. Deploy the release that made it`;
}

function others({ length }: readonly string[]): string {
  return length === 1 ? ' is' : ` and ${length - 1} more are`;
}
