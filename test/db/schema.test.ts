import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import type { Database } from '../../src/store/sql.ts';
import { emptyDatabase, testDatabase } from '../support/database.ts';
import { describedThings, type Shape, schemaText, shapeOf, tableComments } from '../support/schema.ts';

const file = '../../migrations/schema.sql';

test('migrations/schema.sql is the schema of a migrated database (npm run schema writes it), with a comment above each table', async () => {
  await using database = await testDatabase();
  const comments = tableComments(await readFile(new URL(file, import.meta.url), 'utf8'));
  const shape = await shapeOf(database.db);
  await expect(schemaText(shape, comments)).toMatchFileSnapshot(file);
  const uncommented = shape.tables.map(({ name }) => name).filter((name) => !comments.has(name));
  expect(uncommented, `write in ${file}, above the table, what a row of it is`).toEqual([]);
});

test('the entities describe their tables as the database has them', async () => {
  await using database = await testDatabase();
  const described = await describedShape(database.db);
  expect(differences(described, await shapeOf(database.db))).toEqual([]);

  await database.db.rows('alter table users add column planted text');
  await database.db.rows('drop index uploads_project');
  await database.db.rows('alter table projects alter column language drop default');
  await database.db.rows('alter table memberships drop constraint memberships_role_check');
  await database.db.rows('create table planted (id uuid primary key)');
  await database.db.rows('alter table domain_removals rename to renamed');
  const planted = differences(described, await shapeOf(database.db));
  expect(planted.filter((thing) => !thing.includes('domain_removals.'))).toEqual([
    'column projects.language',
    'column users.planted',
    'constraint memberships.memberships_role_check',
    'index uploads.uploads_project',
    'table domain_removals',
  ]);
});

/** The shape of a database that the ORM makes of the entities. Functions and triggers are none of them. */
async function describedShape(migrated: Database): Promise<Shape> {
  await using database = await emptyDatabase();
  await database.db.rows('create extension pg_trgm; create extension btree_gin');
  // Before version 18 of Postgres the migrations bring what defaults of IDs call.
  const brought = await migrated.rows<{ definition: string }>(
    `select pg_get_functiondef(oid) as definition from pg_proc where proname = 'uuidv7' and pronamespace = 'public'::regnamespace`,
  );
  for (const { definition } of brought) await database.db.rows(definition);
  await database.db.rows(await database.orm.schema.getCreateSchemaSQL({ wrap: false }));
  return await shapeOf(database.db);
}

/** What differs between the entities and the tables of the database that they describe. */
function differences(entities: Shape, database: Shape): string[] {
  const names = new Set(entities.tables.map(({ name }) => name));
  const left = describedThings(entities);
  const right = describedThings({ ...database, tables: database.tables.filter(({ name }) => names.has(name)) });
  return [...new Set([...left.keys(), ...right.keys()])]
    .filter((thing) => left.get(thing) !== right.get(thing))
    .toSorted();
}
