import { expect, test } from 'vitest';
import { emptyDatabase, testDatabase } from '../support/database.ts';
import { describedThings, type Shape, schemaText, shapeOf } from '../support/schema.ts';

// What the entities cannot say, with the reason.
const exceptions = new Map([
  ['column import_files.bytes', 'the ORM knows no storage of a column; compressing a compressed file is a waste'],
  ...[
    'activity_counts',
    'contact_changes',
    'contact_history',
    'contact_losses',
    'event_counts',
    'event_counts_state',
    'mail_count_changes',
  ].map((table): [string, string] => [
    `constraint ${table}.${table}_pkey`,
    'the table has no key, and the ORM takes no entity without one',
  ]),
]);

test('migrations/schema.sql is the schema of a migrated database (npm run schema writes it)', async () => {
  await using database = await testDatabase();
  await expect(schemaText(await shapeOf(database.db))).toMatchFileSnapshot('../../migrations/schema.sql');
});

test('the entities describe every table, column, key, index, check and relation of the database, and nothing else', async () => {
  await using database = await testDatabase();
  const [described, migrated] = [await describedShape(), await shapeOf(database.db)];
  const found = differences(described, migrated);
  expect(found.filter((thing) => !exceptions.has(thing))).toEqual([]);
  expect(found.toSorted(), 'an exception that is none').toEqual([...exceptions.keys()].toSorted());

  await database.db.rows('alter table users add column planted text');
  await database.db.rows('drop index events_recent');
  await database.db.rows('alter table jobs alter column progress drop default');
  await database.db.rows('alter table memberships drop constraint memberships_role_check');
  await database.db.rows('create table planted (id uuid primary key)');
  const planted = differences(described, await shapeOf(database.db)).filter((thing) => !exceptions.has(thing));
  expect(planted).toEqual([
    'column jobs.progress',
    'column planted.id',
    'column users.planted',
    'constraint memberships.memberships_role_check',
    'constraint planted.planted_pkey',
    'index events.events_recent',
    'table planted',
  ]);
});

/** The shape of a database that the ORM makes of the entities. Functions and triggers are none of them. */
async function describedShape(): Promise<Shape> {
  await using database = await emptyDatabase();
  await database.db.rows('create extension pg_trgm');
  // Postgres 18 has it.
  await database.db.rows('create function uuidv7() returns uuid language sql as $$ select gen_random_uuid() $$');
  await database.db.rows(await database.orm.schema.getCreateSchemaSQL({ wrap: false }));
  return await shapeOf(database.db);
}

function differences(one: Shape, other: Shape): string[] {
  const [left, right] = [describedThings(one), describedThings(other)];
  return [...new Set([...left.keys(), ...right.keys()])]
    .filter((thing) => left.get(thing) !== right.get(thing))
    .toSorted();
}
