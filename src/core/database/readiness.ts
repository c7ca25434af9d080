import { databaseFunctions } from '../../../migrations/functions.ts';
import { migrations } from '../../../migrations/index.ts';
import { missingFunctions } from './functions.ts';
import type { Database } from './sql.ts';

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
    migrations.map(({ name }) => name),
    newerIsFine,
  );
  if (problem !== null) return problem;
  const [missing] = await missingFunctions(sql, databaseFunctions());
  if (missing !== undefined)
    return `the functions are older than this release: ${missing} is not installed. Run npm run migrate`;
  if (server.readOnly) return 'the server is read-only: DATABASE_URL must name the primary, not a standby';
  return null;
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

/** What to say of a migration that only a later release knows. */
export function newerSchema(name: string): string {
  return `the schema is newer than this release: ${name} is unknown here. Deploy the release that made it`;
}

function others({ length }: readonly string[]): string {
  return length === 1 ? ' is' : ` and ${length - 1} more are`;
}
