import { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { workerDatabase } from '../../src/main/setup/database-settings.ts';
import { openStore } from '../../src/store/orm.ts';
import { byIndexes, databaseOf } from '../../src/store/sql.ts';
import { testApi } from '../support/api.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
  // As Debian's Postgres 15 and most managed servers have it.
  await database.db.rows(`do $$ begin
    execute format('alter database %I set jit to on', current_database());
    execute format('alter database %I set jit_above_cost to 0', current_database());
  end $$`);
});
afterAll(() => database.close());

const compiled = 'explain (format json) select count(*) from emails where subject = $1';
const isCompiled = (rows: object[]) => JSON.stringify(rows).includes('"JIT"');

test('no connection of the service compiles statements, although the server would', async () => {
  await using api = await testApi(database);
  await using worker = await openStore(workerDatabase(api.config), []);
  for (const db of [api.app.db, worker.db]) {
    expect(await db.row(`select current_setting('jit') as jit`)).toEqual({ jit: 'off' });
    expect(isCompiled(await db.rows(compiled, ['a']))).toBe(false);
  }
});

test('what steers plans turns compiling off by itself, for connections that get no settings of ours', async () => {
  const pool = new Pool({ connectionString: database.url, max: 1 });
  try {
    const plain = databaseOf(pool, { prepares: false, em: null });
    // Where this Postgres can compile, it does on such a connection.
    const server = await plain.row<{ can: boolean }>('select pg_jit_available() as can');
    expect(isCompiled(await plain.rows(compiled, ['a']))).toBe(server?.can);
    const steered = await plain.transaction((tx) => tx.rows(compiled, ['a']), byIndexes);
    expect(isCompiled(steered)).toBe(false);
    const functions = await plain.rows<{ name: string; settings: string[] }>(
      `select proname as name, proconfig as settings from pg_proc
       where pronamespace = 'public'::regnamespace and proconfig::text like '%enable_%'`,
    );
    expect(functions.map(({ name }) => name)).toContain('settle_mail');
    for (const { name, settings } of functions) expect(settings, name).toContain('jit=off');
  } finally {
    await pool.end();
  }
});
