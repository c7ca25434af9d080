import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { type DatabaseFunction, databaseFunctions } from '../../migrations/functions.ts';
import { migrations } from '../../migrations/index.ts';
import { migrateDatabase } from '../../src/store/migrate.ts';
import { databaseProblem } from '../../src/store/readiness.ts';
import { emptyDatabase, testDatabase } from '../support/database.ts';
import { type Shape, shapeOf } from '../support/schema.ts';

const names = databaseFunctions().map(({ name }) => name);
// By later migrations.
const removed = [
  'route_events',
  'cancel_lost_runs',
  'count_runs_on_delete',
  'count_new_mail',
  'require_contact',
  'note_contact_change',
  'note_contact_changes',
  'note_lost_contacts',
  'limit_contact_data',
  'forget_runs_of_contacts',
  'recount_changed_mail',
  'tell_failed_mail',
  'count_runs_on_insert',
  'count_ended_run',
  'recount_moved_event',
  'settle_claim',
];
const removedTriggers = [
  'events_routed',
  'automation_runs_lost',
  'automation_runs_counted_on_delete',
  'api_keys_announce_changed',
  'domains_announce_verified',
  'emails_counted',
  'emails_have_contacts',
  'contacts_changed',
  'contacts_changed_together',
  'contacts_data_limited',
  'contacts_deleted',
  'contacts_inserted',
  'contacts_inserted_together',
  'contacts_lost',
  'contacts_runs_forgotten',
  'emails_recounted',
  'emails_failed',
  'automation_runs_counted_on_insert',
  'automation_runs_ended_counted',
  'events_moved',
];
const functionsMigration = 'Migration20261122001100_functions';

test('a database of an earlier release ends with the functions and triggers of a new one, installed once by two migrators', async () => {
  await using fresh = await testDatabase();
  await using old = await emptyDatabase();
  const cut = migrations.findIndex(({ name }) => name === functionsMigration);
  const released = await migrateDatabase(old.url, { list: migrations.slice(0, cut) });
  expect(released.functions).toEqual([]);
  const before = await shapeOf(old.db);
  const written = [...before.functions.keys()].map((name) => name.split('(')[0]);
  expect(names).toEqual(expect.arrayContaining(written.filter((name) => !removed.includes(name ?? ''))));
  await old.db.rows(
    'create or replace function forget_projects() returns trigger language plpgsql as $$ begin return null; end $$',
  );
  await old.db.rows('drop trigger projects_forgotten on projects');

  const reports = await Promise.all([migrateDatabase(old.url), migrateDatabase(old.url)]);
  expect(reports.flatMap(({ functions }) => functions)).toEqual(names);
  expect((await shapeOf(old.db)).functions).toEqual((await shapeOf(fresh.db)).functions);
  expect(triggersOf(await shapeOf(old.db))).toEqual(triggersOf(await shapeOf(fresh.db)));
  const kept = [...triggersOf(before).keys()].filter((name) => !removedTriggers.includes(name));
  expect([...triggersOf(await shapeOf(old.db)).keys()]).toEqual(expect.arrayContaining(kept));
  expect(await databaseProblem(old.db, false)).toBeNull();
});

test('an edited function is installed by the next migration, alone and once; one that fails is named', async () => {
  await using database = await testDatabase();
  const edit = (statement: string): DatabaseFunction[] =>
    databaseFunctions().map((one) =>
      one.name === 'forget_projects' ? { ...one, statements: [statement], hash: randomBytes(4).toString('hex') } : one,
    );
  const edited = edit(
    "create or replace function forget_projects() returns trigger language plpgsql as $$ begin raise 'edited'; end $$",
  );
  expect((await migrateDatabase(database.url, { functions: edited })).functions).toEqual(['forget_projects']);
  expect((await migrateDatabase(database.url, { functions: edited })).functions).toEqual([]);
  expect((await shapeOf(database.db)).functions.get('forget_projects()')).toContain('edited');

  // The text of the earlier release is known here, so that its processes stay ready; that of a later one is not.
  expect(await databaseProblem(database.db, false)).toBeNull();
  await database.db.rows("delete from database_functions where name = 'record_events'");
  expect(await databaseProblem(database.db, true)).toBe(
    'the functions are older than this release: record_events is not installed. Run npm run migrate',
  );

  await expect(migrateDatabase(database.url, { functions: edit('create or replace nonsense') })).rejects.toThrow(
    /^functions\/forget_projects\.sql failed on Postgres .*syntax error.*\(42601\)\. The schema is migrated/,
  );
  expect((await migrateDatabase(database.url)).functions).toEqual(['forget_projects', 'record_events']);
  expect((await shapeOf(database.db)).functions.get('forget_projects()')).toContain('delete from events');
});

test('a migration that running processes cannot work with is refused until they are stopped', async () => {
  await using database = await emptyDatabase();
  const cut = migrations.findIndex(({ isExclusive }) => isExclusive);
  await migrateDatabase(database.url, { list: migrations.slice(0, cut) });
  const api = new Client({ connectionString: database.url, application_name: 'fernpost-api' });
  await api.connect();
  await expect(migrateDatabase(database.url)).rejects.toThrow(
    /^fernpost-api of an earlier release still run: they cannot work with Migration\d+_record_events\. .* Nothing was changed\.$/,
  );
  expect((await migrateDatabase(database.url, { force: true })).applied[0]).toBe(migrations[cut]?.name);
  // Those that are connected to a migrated database are of this release.
  expect((await migrateDatabase(database.url)).applied).toEqual([]);
  await api.end();
});

test('a database of a later release keeps its functions', async () => {
  await using database = await testDatabase();
  await database.db.rows("insert into mikro_orm_migrations (name) values ('Migration29990101000000_next')");
  await database.db.rows('delete from database_functions');
  expect((await migrateDatabase(database.url)).functions).toEqual([]);
});

test('functions and triggers are written in their files alone, each with the reason why it is there', () => {
  const folder = new URL('../../migrations/', import.meta.url);
  const since = readdirSync(folder).filter((file) => /^Migration\d+/.test(file) && file > functionsMigration);
  const writing = /create\s+(or\s+replace\s+)?(function|trigger|procedure)\b/i;
  expect(since.filter((file) => writing.test(readFileSync(new URL(file, folder), 'utf8')))).toEqual([]);
  for (const { name, statements } of databaseFunctions()) {
    const [first = '', ...others] = statements;
    expect(first, name).toMatch(new RegExp(`^-- [\\s\\S]*\\ncreate or replace function ${name}\\(`));
    for (const other of others)
      expect(other, name).toMatch(
        /^create or replace (trigger [\s\S]*execute function \w+\(\);|function [\s\S]*\n {2}-- [\s\S]*)$/,
      );
  }
});

test('docs/architecture.md lists the functions of all triggers, and no others', () => {
  const page = readFileSync(new URL('../../docs/architecture.md', import.meta.url), 'utf8');
  const section = /## Triggers\n([\s\S]*?)\n## /.exec(page)?.[1] ?? '';
  const listed = new Set([...section.matchAll(/`(\w+)`/g)].map(([, name]) => name));
  const having = databaseFunctions().filter(({ statements }) =>
    statements.some((statement) => statement.startsWith('create or replace trigger ')),
  );
  expect([...listed].toSorted()).toEqual(having.map(({ name }) => name));
});

function triggersOf({ tables }: Shape): Map<string, string> {
  return new Map(tables.flatMap(({ triggers }) => [...triggers]));
}
